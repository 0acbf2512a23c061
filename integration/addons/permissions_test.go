package addons

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/integration/awsfake"
	"github.com/eksproxy/eksproxy/integration/controlplane"
	"github.com/eksproxy/eksproxy/integration/program"
)

// rule is one rule of a role, in a namespace or, where that is empty, in all.
type rule struct {
	APIGroups, Resources, ResourceNames, Verbs []string
	namespace                                  string
}

// allows says whether the rule allows a request.
func (r rule) allows(q controlplane.Request) bool {
	return (r.namespace == "" || r.namespace == q.Namespace) && slices.Contains(r.APIGroups, q.Group) && slices.Contains(r.Resources, q.Resource) &&
		slices.Contains(r.Verbs, q.Verb) && (len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, q.Name))
}

// parts are the rule taken apart: each of them must be of use.
func (r rule) parts() []rule {
	var all []rule
	objects := r.ResourceNames
	if len(objects) == 0 {
		objects = []string{""}
	}
	for _, verb := range r.Verbs {
		for _, object := range objects {
			one := rule{APIGroups: r.APIGroups, Resources: r.Resources, Verbs: []string{verb}, namespace: r.namespace}
			if object != "" {
				one.ResourceNames = []string{object}
			}
			all = append(all, one)
		}
	}
	return all
}

func (r rule) String() string {
	return fmt.Sprintf("%s on %s %s in %q", r.Verbs[0], r.Resources[0], strings.Join(r.ResourceNames, ""), r.namespace)
}

// unused are the parts of rules that no request made use of. To create by
// server-side apply is asked for as a patch, and answered with 201.
func unused(rules []rule, requests []controlplane.Request) []string {
	var found []string
	for _, r := range rules {
		for _, part := range r.parts() {
			if !slices.ContainsFunc(requests, func(q controlplane.Request) bool {
				if q.Verb == "patch" && q.Status == 201 && part.Verbs[0] == "create" {
					q.Verb = "create"
				}
				return part.allows(q)
			}) {
				found = append(found, part.String())
			}
		}
	}
	return found
}

// documented are the blocks of a language in a generated part of
// docs/permissions.md.
func documented(t *testing.T, part, language string) []string {
	t.Helper()
	_, text, ok := strings.Cut(read(t, "../../docs/permissions.md"), "<!-- generated: "+part+" -->")
	text, _, end := strings.Cut(text, "<!-- end of generated -->")
	if !ok || !end {
		t.Fatalf("docs/permissions.md has no generated part %q", part)
	}
	var all []string
	for i, block := range strings.Split(text, "```"+language+"\n") {
		if inside, _, ok := strings.Cut(block, "```"); ok && i > 0 {
			all = append(all, inside)
		}
	}
	if len(all) == 0 {
		t.Fatalf("the part %q of docs/permissions.md has no block of %s", part, language)
	}
	return all
}

// bind gives a user the roles of these names, wherever there are any, and returns
// their rules.
func bind(t *testing.T, cp *controlplane.ControlPlane, user string, names ...string) []rule {
	t.Helper()
	var list struct {
		Items []struct {
			Kind     string
			Metadata struct{ Name, Namespace string }
			Rules    []rule
		}
	}
	if err := json.Unmarshal([]byte(cp.Kubectl(t, "get", "clusterroles,roles", "-A", "-o", "json")), &list); err != nil {
		t.Fatal(err)
	}
	var rules []rule
	for _, role := range list.Items {
		if !slices.Contains(names, role.Metadata.Name) {
			continue
		}
		name := user + "-" + role.Metadata.Name
		if role.Kind == "ClusterRole" {
			cp.Kubectl(t, "create", "clusterrolebinding", name, "--user", user, "--clusterrole", role.Metadata.Name)
		} else {
			cp.Kubectl(t, "-n", role.Metadata.Namespace, "create", "rolebinding", name, "--user", user, "--role", role.Metadata.Name)
		}
		awaitRight(t, cp, user, role.Metadata.Namespace, role.Rules[0])
		for _, r := range role.Rules {
			r.namespace = role.Metadata.Namespace
			rules = append(rules, r)
		}
	}
	if len(rules) == 0 {
		t.Fatalf("there are no roles %v", names)
	}
	return rules
}

// awaitRight waits until a user has the first right of a rule.
func awaitRight(t *testing.T, cp *controlplane.ControlPlane, user, namespace string, r rule) {
	t.Helper()
	what := r.Resources[0]
	if r.APIGroups[0] != "" {
		what += "." + r.APIGroups[0]
	}
	if len(r.ResourceNames) > 0 {
		what += "/" + r.ResourceNames[0]
	}
	words := []string{r.Verbs[0], what}
	if namespace != "" {
		words = append(words, "-n", namespace)
	}
	cp.AwaitRight(t, user, words...)
}

// runAs runs commands as a user, each of which must succeed without a call that
// is refused, and returns all requests.
func runAs(t *testing.T, cp *controlplane.ControlPlane, user string, commands ...[]string) []controlplane.Request {
	t.Helper()
	f := controlplane.NewFaults(t, cp)
	kubeconfig := f.UserKubeconfig(t, user)
	for _, args := range commands {
		r := eksproxy(t, kubeconfig, args...)
		if r.Code != 0 {
			t.Errorf("eksproxy %s: exit %d\nstdout: %s\nstderr: %s", strings.Join(args, " "), r.Code, r.Stdout, r.Stderr)
		}
	}
	for _, q := range f.Requests() {
		if q.Status == 403 {
			t.Errorf("%s is refused %s on %s.%s %s/%s", user, q.Verb, q.Resource, q.Group, q.Namespace, q.Name)
		}
	}
	return f.Requests()
}

// TestPermissions: the program does all its work with the roles of
// docs/permissions.md, and needs each of their rights.
func TestPermissions(t *testing.T) {
	t.Parallel()
	cp := start(t, 2)
	cp.Apply(t, "test", false, strings.Join(documented(t, "roles", "yaml"), "---\n"))
	plan := append([]string{"addons", "plan"}, network()...)
	login := filepath.Join(t.TempDir(), "login")
	write(t, login, secret.User+":"+secret.Password+"\n")

	t.Run("change", func(t *testing.T) {
		rules := bind(t, cp, "user0", "eksproxy-addons")
		requests := runAs(t, cp, "user0", plan, patch(), []string{"addons", "status"}, []string{"verify", "cluster"}, []string{"addons", "revert"})
		for _, r := range unused(rules, requests) {
			t.Errorf("a right that was not used: %s", r)
		}
		never := rule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list", "watch"}, namespace: "kube-system"}
		if got := unused([]rule{never}, requests); len(got) != 1 || !strings.HasPrefix(got[0], "watch on pods") {
			t.Errorf("of a right that nobody needs, and one that is needed, these are unused: %q", got)
		}
	})
	t.Run("options", func(t *testing.T) {
		bind(t, cp, "user1", "eksproxy-addons")
		rules := bind(t, cp, "user1", "eksproxy-addons-trusted-ca", "eksproxy-addons-create-secret")
		more := []string{"--trusted-ca", cp.CAFile(), "--credentials-file", login, "--create-secret"}
		requests := runAs(t, cp, "user1", append(plan[:len(plan):len(plan)], more...), patch(append(more, "--canary=off")...),
			[]string{"addons", "status"}, []string{"verify", "cluster"}, []string{"addons", "revert"})
		for _, r := range unused(rules, requests) {
			t.Errorf("a right that was not used: %s", r)
		}
	})
	t.Run("look", func(t *testing.T) {
		expect(t, 0, cp.Kubeconfig(), patch("--canary=off")...)
		rules := bind(t, cp, "user2", "eksproxy-addons-view")
		requests := runAs(t, cp, "user2", plan, []string{"addons", "status"}, []string{"verify", "cluster"})
		for _, r := range unused(rules, requests) {
			t.Errorf("a right that was not used: %s", r)
		}
		f := controlplane.NewFaults(t, cp)
		r := eksproxy(t, f.UserKubeconfig(t, "user2"), patch("--http-proxy", "http://other.example:3128")...)
		refused := slices.ContainsFunc(f.Requests(), func(q controlplane.Request) bool { return q.Status == 403 && q.Verb == "patch" })
		if r.Code == 0 || !refused {
			t.Errorf("who may only look has changed the cluster: exit %d\n%s", r.Code, r.Stderr)
		}
	})
}

// TestPermissionsInAWS: a read of a cluster makes the calls of the policy in
// docs/permissions.md, and no others.
func TestPermissionsInAWS(t *testing.T) {
	t.Parallel()
	full, err := program.Full()
	if err != nil {
		t.Fatal(err)
	}
	cloud := awsfake.Start(t, awsfake.New(awsfake.Site{Name: "demo", Partition: "aws", Region: "eu-west-1", Endpoint: "https://0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com"}))
	r := program.Exec(t, []string{"AWS_ACCESS_KEY_ID=AKIAEXAMPLE", "AWS_SECRET_ACCESS_KEY=example", "AWS_ENDPOINT_URL=" + cloud.URL, "AWS_EC2_METADATA_DISABLED=true"},
		full, "addons", "render", "--for", "manifests", "--cluster", "demo", "--region", "eu-west-1", "--http-proxy", proxyURL)
	program.Said("addons render --cluster", r.Stdout, r.Stderr)
	if r.Code != 0 {
		t.Fatalf("exit %d\n%s", r.Code, r.Stderr)
	}
	var policy struct{ Statement []struct{ Action []string } }
	if err := json.Unmarshal([]byte(documented(t, "policy", "json")[0]), &policy); err != nil {
		t.Fatal(err)
	}
	var allowed []string
	for _, s := range policy.Statement {
		allowed = append(allowed, s.Action...)
	}
	called := cloud.Calls()
	for _, list := range [][]string{allowed, called} {
		slices.Sort(list)
	}
	if called = slices.Compact(called); !slices.Equal(called, allowed) {
		t.Errorf("called were %q, allowed are %q", called, allowed)
	}
}
