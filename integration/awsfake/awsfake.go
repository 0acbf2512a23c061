// Package awsfake is a small server that answers the calls of EKS and EC2 that
// tell of one cluster, as AWS answers them: in pages, with its errors. The
// program's own SDK reads the answers. It checks no signature, and it stands
// beside moto for what moto does not implement.
package awsfake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// pageSize is how many items a list has before it goes on in another page.
const pageSize = 2

// Server is a running server.
type Server struct {
	// URL is its address, for AWS_ENDPOINT_URL.
	URL   string
	cloud Cloud

	mu     sync.Mutex
	faults map[string]Fault
	calls  []string
}

// Fault is what a call answers instead.
type Fault struct {
	Status        int
	Code, Message string
}

// Denied is the answer to a role that may not make the call.
func Denied() Fault {
	return Fault{http.StatusForbidden, "AccessDeniedException", "User: arn:aws:sts::123456789012:assumed-role/viewer/ci is not authorized to perform this"}
}

// Start runs a server until the test ends.
func Start(t *testing.T, c Cloud) *Server {
	t.Helper()
	s := &Server{cloud: c, faults: map[string]Fault{}}
	ts := httptest.NewServer(s)
	t.Cleanup(ts.Close)
	s.URL = ts.URL
	return s
}

// Fail makes a call fail from now on; it is named by its IAM action.
func (s *Server) Fail(action string, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[action] = f
}

// Calls are the IAM actions that were called, in their order.
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

func (s *Server) enter(action string) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, action)
	f, failing := s.faults[action]
	return f, failing
}

// ServeHTTP is EC2 on POST, EKS on GET.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		s.ec2(w, r)
		return
	}
	s.eks(w, r)
}

// eks answers /clusters/NAME[/fargate-profiles|addons[/NAME]].
func (s *Server) eks(w http.ResponseWriter, r *http.Request) {
	part := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	action, ok := map[string]string{
		"2": "DescribeCluster", "3fargate-profiles": "ListFargateProfiles", "4fargate-profiles": "DescribeFargateProfile",
		"3addons": "ListAddons", "4addons": "DescribeAddon",
	}[strconv.Itoa(len(part))+strings.Join(part[min(2, len(part)):min(3, len(part))], "")]
	if !ok || part[0] != "clusters" {
		http.NotFound(w, r)
		return
	}
	if f, failing := s.enter("eks:" + action); failing {
		eksError(w, f)
		return
	}
	if part[1] != s.cloud.Name {
		eksError(w, Fault{http.StatusNotFound, "ResourceNotFoundException", "No cluster found for name: " + part[1] + "."})
		return
	}
	var answer any
	switch action {
	case "DescribeCluster":
		answer = map[string]any{"cluster": s.cloud.Cluster}
	case "ListFargateProfiles":
		names, next := page(s.cloud.Fargate, r.URL.Query().Get("nextToken"))
		answer = map[string]any{"fargateProfileNames": names, "nextToken": next}
	case "ListAddons":
		names, next := page(s.cloud.Addons, r.URL.Query().Get("nextToken"))
		answer = map[string]any{"addons": names, "nextToken": next}
	case "DescribeFargateProfile":
		answer = map[string]any{"fargateProfile": s.cloud.Fargate[part[3]]}
	case "DescribeAddon":
		answer = map[string]any{"addon": s.cloud.Addons[part[3]]}
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(answer)
}

func eksError(w http.ResponseWriter, f Fault) {
	w.Header().Set("X-Amzn-Errortype", f.Code)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Status)
	json.NewEncoder(w).Encode(map[string]string{"message": f.Message})
}

// page is a part of the names, and the token of the next one, nil at the end.
func page[T any](items map[string]T, token string) (names []string, next any) {
	for name := range items {
		names = append(names, name)
	}
	slices.Sort(names)
	from, to := bounds(len(names), token)
	if to < len(names) {
		next = strconv.Itoa(to)
	}
	return names[from:to], next
}

func bounds(n int, token string) (from, to int) {
	from, _ = strconv.Atoi(token)
	return min(from, n), min(from+pageSize, n)
}

// ec2 answers a form, in XML.
func (s *Server) ec2(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	action := r.Form.Get("Action")
	if f, failing := s.enter("ec2:" + action); failing {
		w.WriteHeader(f.Status)
		fmt.Fprintf(w, "<Response><Errors><Error><Code>%s</Code><Message>%s</Message></Error></Errors><RequestID>r</RequestID></Response>", f.Code, f.Message)
		return
	}
	items, set := s.cloud.items(action)
	from, to := bounds(len(items), r.Form.Get("NextToken"))
	w.Header().Set("Content-Type", "text/xml")
	fmt.Fprintf(w, `<%sResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>r</requestId><%s>`, action, set)
	for _, item := range items[from:to] {
		fmt.Fprintf(w, "<item>%s</item>", item)
	}
	fmt.Fprintf(w, "</%s>", set)
	if to < len(items) {
		fmt.Fprintf(w, "<nextToken>%d</nextToken>", to)
	}
	fmt.Fprintf(w, "</%sResponse>", action)
}
