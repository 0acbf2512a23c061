package controlplane

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestRequestInWordsOfRBAC(t *testing.T) {
	for _, test := range []struct{ method, url, want string }{
		{"GET", "/api/v1/pods?watch=true", "watch core pods / "},
		{"GET", "/api/v1/namespaces", "list core namespaces / "},
		{"GET", "/api/v1/namespaces/a", "get core namespaces a/a "},
		{"PUT", "/api/v1/namespaces/a/finalize", "update core namespaces/finalize a/a write"},
		{"GET", "/api/v1/namespaces/a/pods", "list core pods a/ "},
		{"GET", "/api/v1/namespaces/a/pods/p/log", "get core pods/log a/p "},
		{"PATCH", "/apis/apps/v1/namespaces/a/daemonsets/d?dryRun=All", "patch apps daemonsets a/d dry"},
		{"DELETE", "/apis/apps/v1/namespaces/a/daemonsets", "deletecollection apps daemonsets a/ write"},
		{"DELETE", "/apis/rbac.authorization.k8s.io/v1/clusterroles/c", "delete rbac.authorization.k8s.io clusterroles /c write"},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "create authorization.k8s.io selfsubjectaccessreviews / "},
		{"POST", "/api/v1/nodes", "create core nodes / write"},
		{"GET", "/version", "get core  / "},
		{"GET", "/apis/apps/v1", "get core  / "},
		{"GET", "/", "get core  / "},
	} {
		r := newRequest(httptest.NewRequest(test.method, test.url, http.NoBody))
		if r.Group == "" {
			r.Group = "core"
		}
		got := r.Verb + " " + r.Group + " " + r.Resource + " " + r.Namespace + "/" + r.Name + " "
		switch {
		case r.DryRun():
			got += "dry"
		case r.Write():
			got += "write"
		}
		if got != test.want {
			t.Errorf("%s %s: got %q, want %q", test.method, test.url, got, test.want)
		}
	}
}
