package container

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// SquidRequest is one entry of squid's access log.
type SquidRequest struct {
	Client string
	Result string // TCP_TUNNEL, TCP_DENIED, ...
	Status int
	Method string
	URL    string // host:port for CONNECT
	User   string
}

// Requests is what squid has logged so far, in order. A CONNECT is logged
// when its tunnel closes.
func (s *Squid) Requests(t *testing.T) []SquidRequest {
	t.Helper()
	var requests []SquidRequest
	for line := range strings.Lines(readFile(t, s.work.path("access.log"))) {
		fields := strings.Fields(line)
		if len(fields) != 7 || strings.HasPrefix(fields[5], "error:") {
			continue
		}
		status, err := strconv.Atoi(fields[3])
		if err != nil {
			t.Fatalf("reading squid's log: %q", line)
		}
		requests = append(requests, SquidRequest{fields[1], fields[2], status, fields[4], fields[5], fields[6]})
	}
	return requests
}

// Await waits until squid has logged a request for the host, after the first
// so many entries, and returns those for it.
func (s *Squid) Await(t *testing.T, since int, host string) []SquidRequest {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		if found := s.about(t, since, host); len(found) > 0 {
			return found
		}
		if time.Now().After(deadline) {
			t.Fatalf("squid has logged nothing about %s: %+v", host, s.Requests(t)[since:])
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Silent fails where squid logs a request for the host, after the first so
// many entries. It waits a moment, for a tunnel to close.
func (s *Squid) Silent(t *testing.T, since int, host string) {
	t.Helper()
	time.Sleep(300 * time.Millisecond)
	if found := s.about(t, since, host); len(found) > 0 {
		t.Errorf("squid was asked for %s: %+v", host, found)
	}
}

// about are the entries for a host, after the first so many.
func (s *Squid) about(t *testing.T, since int, host string) []SquidRequest {
	t.Helper()
	var found []SquidRequest
	for _, r := range s.Requests(t)[since:] {
		if strings.Contains(r.URL, host) {
			found = append(found, r)
		}
	}
	return found
}
