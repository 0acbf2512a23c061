package controlplane

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// Answer is what happens to a request in place of what it asks for. The
// function forward passes it to the API server and its answer back.
type Answer func(w http.ResponseWriter, r *http.Request, forward func(http.ResponseWriter))

// Status answers with a Status object, as the API server does.
func Status(code int, reason, message string) Answer {
	return func(w http.ResponseWriter, _ *http.Request, _ func(http.ResponseWriter)) {
		body, err := json.Marshal(map[string]any{
			"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{},
			"status": "Failure", "code": code, "reason": reason, "message": message,
		})
		if err != nil {
			panic(err) // strings and a number always have a JSON form
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		w.Write(body)
	}
}

// Conflict answers 409: someone else wrote in between.
func Conflict() Answer {
	return Status(http.StatusConflict, "Conflict", "the object has been modified; please apply your changes to the latest version")
}

// Forbidden answers 403, as where a role lacks the right.
func Forbidden() Answer { return Status(http.StatusForbidden, "Forbidden", "forbidden by the test") }

// Broken answers 500.
func Broken() Answer {
	return Status(http.StatusInternalServerError, "InternalError", "internal error made by the test")
}

// TooMany answers 429, and says in how many whole seconds to come again.
func TooMany(wait time.Duration) Answer {
	status := Status(http.StatusTooManyRequests, "TooManyRequests", "too many requests, please try again later")
	return func(w http.ResponseWriter, r *http.Request, forward func(http.ResponseWriter)) {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())))
		status(w, r, forward)
	}
}

// Hang answers nothing until the client gives up or the test ends.
func Hang() Answer {
	return func(_ http.ResponseWriter, r *http.Request, _ func(http.ResponseWriter)) { <-r.Context().Done() }
}

// Close breaks the connection, so that nobody knows what became of the request:
// the API server has not seen it.
func Close() Answer {
	return func(http.ResponseWriter, *http.Request, func(http.ResponseWriter)) { panic(http.ErrAbortHandler) }
}

// Lose breaks the connection when the API server has done what it was asked.
func Lose() Answer {
	return func(_ http.ResponseWriter, _ *http.Request, forward func(http.ResponseWriter)) {
		forward(nowhere{})
		panic(http.ErrAbortHandler)
	}
}

// Before runs a hook, as one that changes the object behind the client's back,
// and then forwards the request.
func Before(hook func(*http.Request)) Answer {
	return func(w http.ResponseWriter, r *http.Request, forward func(http.ResponseWriter)) {
		hook(r)
		forward(w)
	}
}

// After forwards the request and runs a hook when the API server has done it,
// as one that ends the client. The client's answer ends with the hook.
func After(hook func(*http.Request)) Answer {
	return func(w http.ResponseWriter, r *http.Request, forward func(http.ResponseWriter)) {
		forward(w)
		hook(r)
	}
}

// nowhere takes an answer that no client gets.
type nowhere struct{}

// Header is a header that nobody reads.
func (nowhere) Header() http.Header { return http.Header{} }

// Write takes all.
func (nowhere) Write(data []byte) (int, error) { return len(data), nil }

// WriteHeader does nothing.
func (nowhere) WriteHeader(int) {}
