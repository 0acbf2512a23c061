package node

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/proxyconfig"
)

// Fetched credentials are kept as they were fetched, for root alone, shown
// nowhere, and taken away when they come from elsewhere.
func TestFetchedCredentialsAreKept(t *testing.T) {
	root := plant(t, baseTree(AL2023))
	s := settings(true)
	s.KeepCredentials = true
	p := applyTo(t, root, s, proxyconfig.Node{})
	user, password := s.HTTPProxy.Credentials().Reveal()
	if got := read(t, root, CredentialsPath); got != user+":"+password+"\n" {
		t.Error("the copy is not user:password on one line")
	}
	f, err := root.Read(CredentialsPath)
	check(t, err)
	if f.Mode != 0o600 {
		t.Errorf("the copy has mode %o", f.Mode)
	}
	shown, err := json.Marshal(p.Plan)
	check(t, err)
	if strings.Contains(string(shown), password) || !strings.Contains(string(shown), CredentialsPath) {
		t.Error("the plan shows the password, or not the file")
	}
	s.KeepCredentials = false
	applyTo(t, root, s, proxyconfig.Node{})
	if root.Exists(CredentialsPath) {
		t.Error("the copy stays where nothing is fetched any more")
	}
}

// Without credentials there is nothing to keep.
func TestNothingIsKept(t *testing.T) {
	s := settings(false)
	s.KeepCredentials = true
	d, err := Want(System{AL2023, []string{"containerd"}}, s, proxyconfig.Node{})
	check(t, err)
	for _, i := range d.Items {
		if i.Path == CredentialsPath {
			t.Error("an empty copy is wanted")
		}
	}
}
