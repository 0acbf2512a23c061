// Package plan is what a command would change: an ordered list of changes that
// can be shown, written to a file, approved, compared with the world again and
// carried out by an Applier. It knows nothing of files, nodes or clusters, and
// it never shows a secret.
package plan

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// APIVersion and Kind stand at the head of a written plan.
const (
	APIVersion = "eksproxy.dev/v1alpha1"
	Kind       = "Plan"
)

// Action is what a change does to its target.
type Action string

// The actions.
const (
	Create    Action = "create"
	Update    Action = "update"
	Delete    Action = "delete"
	Run       Action = "run"
	Unchanged Action = "unchanged"
)

// Value is one side of a change.
type Value struct {
	Content Content `json:"content"`
	// Mode is the permission of a file in octal, as in "0644"; empty where
	// the target has none.
	Mode string `json:"mode,omitempty"`
}

// Change is one step of a plan.
type Change struct {
	// ID names the change within its plan, as in "file:/etc/environment".
	ID string
	// Target is what is changed, as the user knows it: a path, a unit, an
	// object.
	Target string
	Action Action
	// Before and After are nil where the target is absent.
	Before, After *Value
	// Reason says why the target must be so.
	Reason string
	// Disruption is what the change interrupts: "none", "restarts UNIT",
	// "rolls N pods", "replaces nodes".
	Disruption string
	// Undo says how the change is taken back.
	Undo string
}

// changeJSON is a Change as it is written: texts instead of contents, so that
// a secret which is replaced can be marked.
type changeJSON struct {
	ID         string     `json:"id"`
	Target     string     `json:"target"`
	Action     Action     `json:"action"`
	Before     *valueJSON `json:"before"`
	After      *valueJSON `json:"after"`
	Reason     string     `json:"reason"`
	Disruption string     `json:"disruption"`
	Undo       string     `json:"undo"`
}

type valueJSON struct {
	Content string `json:"content"`
	Mode    string `json:"mode,omitempty"`
}

// MarshalJSON writes the change with its contents masked.
func (c Change) MarshalJSON() ([]byte, error) {
	before, after := c.texts()
	out := changeJSON{
		ID: c.ID, Target: c.Target, Action: c.Action,
		Reason: c.Reason, Disruption: c.Disruption, Undo: c.Undo,
	}
	if c.Before != nil {
		out.Before = &valueJSON{before, c.Before.Mode}
	}
	if c.After != nil {
		out.After = &valueJSON{after, c.After.Mode}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (c *Change) UnmarshalJSON(data []byte) error {
	var in changeJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*c = Change{
		ID: in.ID, Target: in.Target, Action: in.Action,
		Before: in.Before.value(), After: in.After.value(),
		Reason: in.Reason, Disruption: in.Disruption, Undo: in.Undo,
	}
	return nil
}

func (v *valueJSON) value() *Value {
	if v == nil {
		return nil
	}
	return &Value{Content: NewContent([]byte(v.Content)), Mode: v.Mode}
}

// texts are both sides masked, with a replaced secret marked as changed.
func (c Change) texts() (before, after string) {
	if c.Before != nil {
		before = c.Before.Content.String()
	}
	switch {
	case c.After == nil:
	case c.Before == nil:
		after = c.After.Content.String()
	default:
		after = c.After.Content.after(c.Before.Content)
	}
	return before, after
}

// Diff is the change as a unified diff of the masked texts; empty where the
// texts do not differ.
func (c Change) Diff() string {
	before, after := c.texts()
	return string(diff.Diff("before "+c.Target, []byte(before), "after "+c.Target, []byte(after)))
}

// Plan is a list of changes, in the order in which they are carried out.
type Plan struct {
	// Target names the world that the plan was made for, as in
	// {"root": "/", "os": "al2023"}.
	Target map[string]string
	// SettingsHash is the hash of the settings, which covers no credential.
	SettingsHash string
	// Inputs is what the plan was made from, as its maker wrote it: no
	// secrets, but where they are to be found. It lets a written plan be
	// applied without its flags being repeated.
	Inputs  json.RawMessage
	Changes []Change
	// Notes are what the reader must know beside the changes.
	Notes []string
}

// Pending are the changes that do something.
func (p Plan) Pending() []Change {
	var out []Change
	for _, c := range p.Changes {
		if c.Action != Unchanged {
			out = append(out, c)
		}
	}
	return out
}

// Summary counts the actions: "3 to create, 1 to update, 12 unchanged".
func (p Plan) Summary() string {
	count := map[Action]int{}
	for _, c := range p.Changes {
		count[c.Action]++
	}
	var parts []string
	for _, a := range []Action{Create, Update, Delete, Run} {
		if count[a] > 0 {
			parts = append(parts, fmt.Sprintf("%d to %s", count[a], a))
		}
	}
	return strings.Join(append(parts, fmt.Sprintf("%d unchanged", count[Unchanged])), ", ")
}
