package addons

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/eksproxy/eksproxy/facts"
)

// The shapes of schemas that EKS gives.
const (
	itemSchema = `{"type":"object","additionalProperties":false,"properties":{"name":{"type":"string"},"value":{"type":"string"},"valueFrom":{"type":"object"}}}`
	cniClosed  = `{"type":"object","additionalProperties":false,"properties":{"env":{"type":"object","additionalProperties":false,"properties":{"WARM_ENI_TARGET":{"type":"string","pattern":"^[0-9]+$"}}}}}`
	cniExtra   = `{"type":"object","additionalProperties":false,"properties":{"env":{"type":"object","additionalProperties":false,"properties":{"WARM_ENI_TARGET":{"type":"string"}}},"extraEnv":{"type":"array","items":` + itemSchema + `}}}`
	cniClaims  = `{"type":"object","additionalProperties":false,"$defs":{"url":{"type":"string","default":""}},"properties":{"env":{"type":"object","additionalProperties":false,"properties":{"WARM_ENI_TARGET":{"type":"string"},"HTTP_PROXY":{"$ref":"#/$defs/url"},"NO_PROXY":{"type":"string"}}},"init":{"type":"object","properties":{"env":{"type":"object","properties":{"HTTPS_PROXY":{"type":"string"}}}}},"extraEnv":{"type":"array","items":` + itemSchema + `}}}`
	cniOpen    = `{"type":"object","properties":{"env":{"type":"object","properties":{"WARM_ENI_TARGET":{"type":"string"}}}}}`
	ebsProxy   = `{"type":"object","additionalProperties":false,"properties":{"proxy":{"type":"object","additionalProperties":false,"properties":{"http_proxy":{"type":"string"},"no_proxy":{"type":"string"}}}}}`
	ebsLists   = `{"type":"object","additionalProperties":false,"properties":{"controller":{"type":"object","properties":{"env":{"type":"array","items":` + itemSchema + `},"podAnnotations":{"type":"object","additionalProperties":{"type":"string"}}}},"proxy":{"type":"object","additionalProperties":false,"properties":{"http_proxy":{"type":"string"},"no_proxy":{"type":"string"}}}}}`
	kubeProxyS = `{"type":"object","additionalProperties":false,"properties":{"mode":{"type":"string","enum":["iptables","ipvs"]}}}`
)

// catalog answers from a table: "NAME VERSION" has a schema.
type catalog struct {
	schemas map[string]string
	// versions are those of an add-on, the default one first.
	versions map[string][]string
	err      error
}

func (c catalog) DescribeAddonConfiguration(_ context.Context, in *eks.DescribeAddonConfigurationInput, _ ...func(*eks.Options)) (*eks.DescribeAddonConfigurationOutput, error) {
	text, ok := c.schemas[*in.AddonName+" "+*in.AddonVersion]
	switch {
	case c.err != nil:
		return nil, c.err
	case !ok:
		return nil, &types.ResourceNotFoundException{Message: aws.String("no such version")}
	}
	return &eks.DescribeAddonConfigurationOutput{ConfigurationSchema: &text}, nil
}

// DescribeAddonVersions answers in pages of one version.
func (c catalog) DescribeAddonVersions(_ context.Context, in *eks.DescribeAddonVersionsInput, _ ...func(*eks.Options)) (*eks.DescribeAddonVersionsOutput, error) {
	if c.err != nil {
		return nil, c.err
	}
	all := c.versions[*in.AddonName]
	at := len(aws.ToString(in.NextToken))
	if at >= len(all) {
		return &eks.DescribeAddonVersionsOutput{}, nil
	}
	v := types.AddonVersionInfo{AddonVersion: &all[at], Compatibilities: []types.Compatibility{{ClusterVersion: in.KubernetesVersion, DefaultVersion: at == 0}}}
	out := &eks.DescribeAddonVersionsOutput{Addons: []types.AddonInfo{{AddonName: in.AddonName, AddonVersions: []types.AddonVersionInfo{v}}}}
	if at+1 < len(all) {
		out.NextToken = aws.String(strings.Repeat("x", at+1))
	}
	return out, nil
}

// recordedFor is a record of an add-on as a patch with these settings writes it, and its values.
func recordedFor(t *testing.T, d Desired, schema, component, values string) (record managedRecord, after string) {
	t.Helper()
	s, err := ParseSchema(schema)
	if err != nil {
		t.Fatal(err)
	}
	c, err := FindComponent(component)
	if err != nil {
		t.Fatal(err)
	}
	_, additions, why := d.placeIn(s, c, values)
	if why != "" {
		t.Fatal(why)
	}
	after, record, _, err = edited(values, managedRecord{}, additions)
	if err != nil {
		t.Fatal(err)
	}
	record.Components = []string{component}
	return record, after
}

// aheadCase is one add-on with a version to come.
type aheadCase struct {
	name, addon, component string
	old, next              string // schemas
	values                 string
	patched                bool // by its configuration
	want                   Outlook
	now, then              string
	why                    string   // part of the reason
	refused                []string // pointers
	claimed                []string
}

func aheadCases() []aheadCase {
	const users = `{"env":{"WARM_ENI_TARGET":"2"}}`
	return []aheadCase{
		{name: "the same", addon: "vpc-cni", component: "aws-node", old: cniExtra, next: cniExtra, values: users, patched: true, want: OutlookKept, now: "eks /extraEnv", then: "eks /extraEnv"},
		{name: "a route that disappears from a closed schema", addon: "vpc-cni", component: "aws-node", old: cniExtra, next: cniClosed, values: users, patched: true,
			want: OutlookRefused, now: "eks /extraEnv", then: "in-cluster", why: "/extraEnv (this version has no such name)", refused: []string{"/extraEnv"}},
		{name: "a route that disappears from an open schema", addon: "vpc-cni", component: "aws-node", old: cniExtra, next: cniOpen, values: users, patched: true,
			want: OutlookLost, now: "eks /extraEnv", then: "in-cluster", why: "they are gone from the update until"},
		{name: "never patched, no place", addon: "vpc-cni", component: "aws-node", old: cniExtra, next: cniClosed, values: users, want: OutlookReady, now: "unknown", then: "in-cluster"},
		{name: "a value of the user's", addon: "vpc-cni", component: "aws-node", old: cniExtra, next: cniClosed, values: `{"env":{"WARM_ENI_TARGET":"many","NEW":"1"}}`,
			want: OutlookRefused, now: "unknown", then: "in-cluster", refused: []string{"/env/NEW", "/env/WARM_ENI_TARGET"}},
		{name: "names that the version takes", addon: "vpc-cni", component: "aws-node", old: cniExtra, next: cniClaims, values: users, patched: true,
			want: OutlookLost, now: "eks /extraEnv", then: "eks /extraEnv", why: `/env/HTTP_PROXY (default "")`, claimed: []string{"/env/HTTP_PROXY", "/env/NO_PROXY"}},
		{name: "proxy to lists", addon: "aws-ebs-csi-driver", component: "ebs-csi-controller", old: ebsProxy, next: ebsLists, patched: true,
			want: OutlookMoves, now: "eks /proxy", then: "eks /controller/env", why: "/proxy goes on carrying the variables, and the next eksproxy addons patch takes eks /controller/env"},
		{name: "kube-proxy", addon: "kube-proxy", component: "kube-proxy", old: kubeProxyS, next: kubeProxyS, values: `{"mode":"iptables"}`, want: OutlookReady, now: "unknown", then: "in-cluster"},
		{name: "no values at all", addon: "kube-proxy", component: "kube-proxy", old: kubeProxyS, next: "", values: `{"mode":"iptables"}`, want: OutlookRefused, now: "unknown", then: "in-cluster", why: "takes no configuration values", refused: []string{""}},
	}
}

func TestAhead(t *testing.T) {
	for _, ac := range aheadCases() {
		t.Run(ac.name, func(t *testing.T) {
			cluster := renderCluster()
			d, err := Want(renderSettings(t, cluster, nil), cluster, Options{Components: []string{"ebs-csi-controller"}})
			if err != nil {
				t.Fatal(err)
			}
			recorded := records{}
			values := ac.values
			if ac.patched {
				recorded[ac.addon], values = recordedFor(t, d, ac.old, ac.component, ac.values)
			}
			d.Cluster.Addons = []facts.Addon{{Name: ac.addon, Version: "v1", Configuration: values}}
			out := Ahead{}
			l := &aheadLook{AheadOptions{Catalog: catalog{schemas: map[string]string{ac.addon + " v1": ac.old, ac.addon + " v2": ac.next}}, Versions: map[string]string{ac.addon: "v2"}}, d, recorded, &out}
			a, err := l.addon(t.Context(), ac.addon)
			if err != nil {
				t.Fatal(err)
			}
			if a.Outlook != ac.want || !strings.Contains(a.Why, ac.why) {
				t.Errorf("the outlook is %s: %s", a.Outlook, a.Why)
			}
			if len(a.Routes) != 1 || a.Routes[0].Now != ac.now || a.Routes[0].Then != ac.then {
				t.Errorf("the routes are %+v", a.Routes)
			}
			var refused, claimed []string
			for _, r := range a.Refused {
				refused = append(refused, r.Pointer)
				if r.Ours != (ac.patched && r.Pointer == "/extraEnv") {
					t.Errorf("%s is said to be of eksproxy: %t", r.Pointer, r.Ours)
				}
			}
			for _, c := range a.Claimed {
				claimed = append(claimed, c.Pointer)
			}
			if strings.Join(refused, " ") != strings.Join(ac.refused, " ") || strings.Join(claimed, " ") != strings.Join(ac.claimed, " ") {
				t.Errorf("refused %q, claimed %q", refused, claimed)
			}
		})
	}
}

// TestAheadVersions: of the versions for a Kubernetes the default one is taken, but
// no downgrade is proposed.
func TestAheadVersions(t *testing.T) {
	c := catalog{versions: map[string][]string{"vpc-cni": {"v1.20.0-eksbuild.9", "v1.20.0-eksbuild.10", "v1.19.0-eksbuild.1"}}}
	for _, tc := range []struct{ installed, named, want, why string }{
		{"v1.19.0-eksbuild.1", "", "v1.20.0-eksbuild.9", ""},
		{"v1.20.0-eksbuild.10", "", "v1.20.0-eksbuild.10", ""},
		{"v1.18.0-eksbuild.1", "", "v1.20.0-eksbuild.9", ""},
		{"v1.99.0-eksbuild.1", "", "v1.20.0-eksbuild.9", ""}, // EKS does not offer the installed one
		{"v1.19.0-eksbuild.1", "v1.19.0-eksbuild.1", "v1.19.0-eksbuild.1", ""},
		{"v1.19.0-eksbuild.1", "v1.18.0-eksbuild.1", "v1.18.0-eksbuild.1", "does not offer this version for Kubernetes 1.36"},
	} {
		l := &aheadLook{AheadOptions: AheadOptions{Catalog: c, Kubernetes: "1.36", Versions: map[string]string{}}}
		if tc.named != "" {
			l.Versions["vpc-cni"] = tc.named
		}
		v, why, err := l.version(t.Context(), facts.Addon{Name: "vpc-cni", Version: tc.installed})
		if err != nil || v != tc.want || !strings.Contains(why, tc.why) || (why == "") != (tc.why == "") {
			t.Errorf("%+v: %s, %q, %v", tc, v, why, err)
		}
	}
	l := &aheadLook{AheadOptions: AheadOptions{Catalog: c, Kubernetes: "1.36"}}
	for component, want := range map[string]Outlook{"": OutlookKept, "coredns": OutlookUnknown} { // it matters only where it gets the variables
		l.want.Targets = []Target{{Component: component}}
		if a, err := l.addon(t.Context(), "coredns"); err != nil || a.Outlook != want {
			t.Errorf("%q: %+v, %v", component, a, err)
		}
	}
	if v, why, err := l.version(t.Context(), facts.Addon{Name: "coredns"}); v != "" || !strings.Contains(why, "has no version") || err != nil {
		t.Errorf("an add-on without a version: %s, %q, %v", v, why, err)
	}
}

// TestAheadErrors: what AWS does not answer is undecided, and what it does not know
// is a fault of the option.
func TestAheadErrors(t *testing.T) {
	d := Desired{Cluster: facts.Cluster{Addons: []facts.Addon{{Name: "vpc-cni", Version: "v1"}}}}
	refusal := &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: http.StatusForbidden}}, Err: errors.New("denied")}
	for _, tc := range []struct {
		err              error
		option, answered bool
	}{{nil, true, true}, {errors.New("no route to host"), false, false}, {refusal, false, false}} {
		_, err := LookAhead(t.Context(), d, AheadOptions{Catalog: catalog{err: tc.err}, Versions: map[string]string{"vpc-cni": "v9"}})
		if err == nil || IsOption(err) != tc.option || Unanswered(err) == tc.answered {
			t.Errorf("%v: %v", tc.err, err)
		}
		if _, err := LookAhead(t.Context(), d, AheadOptions{Catalog: catalog{err: tc.err}, Kubernetes: "1.36"}); (err == nil) != (tc.err == nil) {
			t.Errorf("by the version of Kubernetes: %v", err)
		}
	}
	if _, err := LookAhead(t.Context(), Desired{}, AheadOptions{Kubernetes: "1.36"}); !IsOption(err) {
		t.Errorf("without add-ons: %v", err)
	}
}
