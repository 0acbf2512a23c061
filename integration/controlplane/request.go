package controlplane

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// Request is what a client asked of the API server, in the words of RBAC.
type Request struct {
	// Verb is get, list, watch, create, update, patch, delete or
	// deletecollection; the HTTP method in lower case where it is no resource.
	Verb string
	// Group and Resource are as in a role: "" is the core group, a
	// subresource follows a slash. Both are empty where it is no resource.
	Group, Resource string
	// Namespace and Name are empty where the path has none.
	Namespace, Name string
	// Method, Path and Query are as they came.
	Method, Path, Query string
	// ContentType tells an apply from other patches.
	ContentType string
	// Status is what was answered, 0 while that is under way or where the
	// connection was broken.
	Status int
	// At is when it came.
	At time.Time
}

// DryRun says whether the client asked to store nothing.
func (r Request) DryRun() bool { return strings.Contains("&"+r.Query, "&dryRun=All") }

// Write says whether the request could have changed what is stored.
func (r Request) Write() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, r.Verb) &&
		!r.DryRun() && !review(r)
}

// review says whether the request is a question that is asked by a create.
func review(r Request) bool {
	return r.Group == "authorization.k8s.io" || r.Group == "authentication.k8s.io"
}

// newRequest reads the words from a request.
func newRequest(r *http.Request) Request {
	out := Request{
		Verb: strings.ToLower(r.Method), Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery,
		ContentType: r.Header.Get("Content-Type"), At: time.Now(),
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		out.Group, parts = parts[1], parts[3:]
	default:
		return out
	}
	// The objects named namespaces have their subresources, all else is in them.
	if parts[0] == "namespaces" && len(parts) > 1 {
		out.Namespace = parts[1]
		if len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
			parts = parts[2:]
		}
	}
	out.Resource = parts[0]
	if len(parts) > 1 {
		out.Name = parts[1]
	}
	if len(parts) > 2 {
		out.Resource += "/" + parts[2]
	}
	out.Verb = verb(r, out.Name)
	// A list of one name is asked for by that name, as RBAC takes it.
	for field := range strings.SplitSeq(r.URL.Query().Get("fieldSelector"), ",") {
		if name, ok := strings.CutPrefix(field, "metadata.name="); ok {
			out.Name = name
		}
	}
	return out
}

// verb is how a role calls what the request does to a resource.
func verb(r *http.Request, name string) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		switch watch := r.URL.Query().Get("watch"); {
		case watch == "true" || watch == "1":
			return "watch"
		case name == "":
			return "list"
		}
		return "get"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodDelete:
		if name == "" {
			return "deletecollection"
		}
		return "delete"
	}
	return strings.ToLower(r.Method)
}

// Match says which requests are meant. An empty field means any.
type Match struct{ Verb, Group, Resource, Namespace, Name string }

// Holds says whether the request is one of them.
func (m Match) Holds(r Request) bool {
	same := func(want, got string) bool { return want == "" || want == got }
	return same(m.Verb, r.Verb) && same(m.Group, r.Group) && same(m.Resource, r.Resource) &&
		same(m.Namespace, r.Namespace) && same(m.Name, r.Name)
}
