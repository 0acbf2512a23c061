package controlplane

import (
	"bytes"
	"embed"
	"fmt"
	"net/http"
	"os"
	"slices"
	"testing"
	"text/template"
)

//go:embed testdata/stages/*.yaml
var stageFiles embed.FS

// StuckAnnotation on a pod has the name of an Outcome as its value.
const StuckAnnotation = "test.eksproxy.dev/stuck"

// Outcome is what becomes of a pod other than that it runs and is ready.
type Outcome string

// A pod leaves the first four outcomes when no rule holds for it any more.
const (
	Unready   Outcome = "unready"   // it runs and has an address, but is never ready
	NoAddress Outcome = "noaddress" // the network plug-in gives it no address: it is never created
	NoImage   Outcome = "noimage"   // its image cannot be pulled
	Crashing  Outcome = "crashing"  // its containers end again and again
	Failed    Outcome = "failed"    // it ends with an exit code
	Succeeded Outcome = "succeeded" // it ends without an error
)

// Rule decides what becomes of pods that are not ready yet. Those that are
// ready or have ended stay so. Of several rules the first that holds decides,
// and all go before StuckAnnotation.
type Rule struct {
	// When is a jq condition on the pod, as in
	// `any(.spec.containers[].env[]?; .name == "HTTPS_PROXY")`. Where it
	// fails, as on an absent list without "?", it does not hold.
	When string
	// Outcome is what becomes of the pods for which it holds.
	Outcome Outcome
	// ExitCode and Message are how the containers end, 1 for a failure where it
	// is 0, and the message of that or of why they do not start.
	ExitCode int
	Message  string
}

// builtin are the rules by annotation.
func builtin() []Rule {
	var rules []Rule
	for _, outcome := range []Outcome{Unready, NoAddress, NoImage, Crashing, Failed, Succeeded} {
		when := fmt.Sprintf(".metadata.annotations[%q] == %q", StuckAnnotation, outcome)
		rules = append(rules, Rule{When: when, Outcome: outcome})
	}
	return rules
}

// SetRules replaces the rules for pods, from now on. KWOK reads them at its
// start only, so that this restarts it; ready pods and nodes notice nothing.
func (c *ControlPlane) SetRules(tb testing.TB, rules ...Rule) {
	tb.Helper()
	c.options.Rules = rules
	c.kwok.kill()
	c.processes = slices.DeleteFunc(c.processes, func(p *process) bool { return p == c.kwok })
	// The next one would wait until the leases of this one end.
	const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
	status, body, err := c.client.call(tb.Context(), http.MethodDelete, leases, "", nil)
	if err != nil || status != http.StatusOK {
		tb.Fatalf("deleting the leases: status %d: %v\n%s", status, err, body)
	}
	if err := c.startKWOK(); err != nil {
		tb.Fatal(err)
	}
}

// startKWOK starts the simulation of nodes and pods.
func (c *ControlPlane) startKWOK() error {
	stages, err := c.stages()
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.file("stages.yaml"), stages, 0o644); err != nil {
		return fmt.Errorf("writing the stages: %w", err)
	}
	config, err := writeKubeconfig(c.dir, "kwok", c.url, c.CAFile())
	if err != nil {
		return err
	}
	err = c.launch("kwok", "--kubeconfig", config, "--manage-all-nodes=true",
		"--node-lease-duration-seconds=40", "--cidr", "10.244.0.0/16", "--node-ip", "127.0.0.1",
		"--v=WARN", "-c", c.file("stages.yaml"))
	if err == nil {
		c.kwok = c.processes[len(c.processes)-1]
	}
	return err
}

// stages is the text that tells KWOK what to do. KWOK plays the stages of the
// greatest weight that match, so that a rule wins over what is usual.
func (c *ControlPlane) stages() ([]byte, error) {
	// KWOK's own templates stand in double braces.
	files, err := template.New("").Delims("[[", "]]").ParseFS(stageFiles, "testdata/stages/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("reading the stages: %w", err)
	}
	var text bytes.Buffer
	for _, name := range []string{"node.yaml", "pod.yaml"} {
		if err := files.ExecuteTemplate(&text, name, nil); err != nil {
			return nil, fmt.Errorf("writing the stages: %w", err)
		}
	}
	if err := writeRules(&text, files, slices.Concat(c.options.Rules, builtin())); err != nil {
		return nil, err
	}
	text.WriteString("\n---\n" + c.options.Stages)
	return text.Bytes(), nil
}

// writeRules writes the stage of each rule. A rule holds only where none before
// it does: KWOK would choose among them at random.
func writeRules(text *bytes.Buffer, files *template.Template, rules []Rule) error {
	none := ""
	for i, rule := range rules {
		holds := "(try (" + rule.When + ") catch false)"
		rule.When = holds + none
		none += " and (" + holds + " | not)"
		name := "waiting.yaml"
		if rule.Outcome == Failed || rule.Outcome == Succeeded {
			name = "ended.yaml"
		}
		if rule.Outcome == Failed && rule.ExitCode == 0 {
			rule.ExitCode = 1
		}
		data := struct {
			Rule
			Index int
		}{rule, i}
		if err := files.ExecuteTemplate(text, name, data); err != nil {
			return fmt.Errorf("writing the stage of a rule: %w", err)
		}
	}
	return nil
}
