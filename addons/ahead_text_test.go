package addons

import (
	"strings"
	"testing"
)

// TestAheadShowsNoPassword: schemas repeat the values that they refuse.
func TestAheadShowsNoPassword(t *testing.T) {
	s, err := ParseSchema(`{"type":"object","properties":{"proxy":{"type":"object","properties":{"http_proxy":{"type":"string","pattern":"^https"}}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	refused, err := s.Refused(`{"proxy":{"http_proxy":"http://svc:Hq8renderL3@proxy.example:3128"}}`)
	if err != nil || len(refused) != 1 || refused[0].Pointer != "/proxy/http_proxy" {
		t.Fatalf("%v, %v", refused, err)
	}
	if strings.Contains(refused[0].Why, "Hq8renderL3") || !strings.Contains(refused[0].Why, "pattern") {
		t.Errorf("it says %s", refused[0].Why)
	}
}

// TestAheadText holds the forms for people.
func TestAheadText(t *testing.T) {
	text := "x"
	a := Ahead{Kubernetes: "1.36", Notes: []string{"a note"}, Addons: []AheadAddon{
		{Name: "vpc-cni", Installed: "v1", Version: "v2", Outlook: OutlookLost, Why: "a | b\nc", Refused: []Refusal{{"/a", "no", true}, {"", "no", false}},
			Routes: []AheadRoute{{"aws-node", "eks /extraEnv", "in-cluster", "none"}}, Claimed: []Claim{{"/env/HTTP_PROXY", &text}}, Rolls: []AheadRoll{{"DaemonSet a/b", 3}}},
		{Name: "coredns", Outlook: OutlookUnknown, Why: "x"},
	}}
	for _, form := range []struct {
		write func(*strings.Builder) error
		want  []string
	}{
		{func(b *strings.Builder) error { return a.WriteTable(b) }, []string{
			"vpc-cni  v1   v2    lost     a | b c\n", "coredns  -    -     unknown  x\n", "\nvpc-cni: refused /a, that eksproxy has put there: no\n",
			"refused as a whole, of the configuration values there: no", "aws-node: now eks /extraEnv, then in-cluster (none)", "the update rolls 3 pods of DaemonSet a/b", "\nnote: a note\n",
		}},
		{func(b *strings.Builder) error { return a.WriteMarkdown(b) }, []string{"Kubernetes 1.36\n", "| vpc-cni | v1 | v2 | lost | a \\| b c |\n", "\n- vpc-cni: the version takes the name itself: /env/HTTP_PROXY (default \"x\")\n", "\n- a note\n"}},
	} {
		var b strings.Builder
		if err := form.write(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range form.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%q is not in\n%s", want, b.String())
			}
		}
	}
}
