package imds

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Error is a read of instance metadata that did not succeed.
type Error struct {
	// Path is the path of the URL; that of the token, if the token was refused.
	Path string
	// Status is the last HTTP status; 0 where there was no answer.
	Status int
	// Endpoint is the URL without the path.
	Endpoint string
	// Err is the cause, if the status does not say it all.
	Err error
	// Tried says how long the read was repeated; 0 where one answer was final.
	Tried time.Duration
}

// Error reads like "GET http://169.254.169.254/latest/meta-data/mac: 503
// Service Unavailable (tried for 60 s)".
func (e *Error) Error() string {
	method := http.MethodGet
	if e.Path == tokenPath {
		method = http.MethodPut
	}
	s := method + " " + e.Endpoint + e.Path
	if e.Status != 0 && e.Status/100 != 2 {
		s += fmt.Sprintf(": %d %s", e.Status, http.StatusText(e.Status))
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Tried > 0 {
		s += " (tried for " + seconds(e.Tried) + ")"
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// retryable says whether the trouble may pass: the network comes up, a limit
// of requests is over, a token gets renewed.
func (e *Error) retryable() bool {
	switch {
	case e.Status == 0:
		return true
	case e.Status/100 == 2:
		return false
	default:
		return e.Status >= 500 || e.Status == http.StatusTooManyRequests || e.Status == http.StatusUnauthorized
	}
}

// seconds is a duration that people can read.
func seconds(d time.Duration) string {
	unit := time.Second
	if d < unit {
		unit = time.Millisecond
	}
	return strconv.FormatFloat(d.Round(unit).Seconds(), 'f', -1, 64) + " s"
}
