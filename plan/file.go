package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// document is a Plan as it is written to a file.
type document struct {
	APIVersion   string            `json:"apiVersion"`
	Kind         string            `json:"kind"`
	Target       map[string]string `json:"target"`
	SettingsHash string            `json:"settingsHash"`
	Inputs       json.RawMessage   `json:"inputs,omitempty"`
	Changes      []Change          `json:"changes"`
	Notes        []string          `json:"notes,omitempty"`
	// Digest is the SHA-256 of the document without it, in hex: a plan that
	// was edited after it was approved is refused.
	Digest string `json:"digest,omitempty"`
}

// ErrEdited says that a plan file is not what eksproxy wrote.
var ErrEdited = errors.New("the plan was changed after it was written; make it again with plan --out")

// MarshalJSON writes the plan with its digest; secrets are masked.
func (p Plan) MarshalJSON() ([]byte, error) {
	doc := document{
		APIVersion: APIVersion, Kind: Kind,
		Target: p.Target, SettingsHash: p.SettingsHash, Inputs: p.Inputs,
		Changes: p.Changes, Notes: p.Notes,
	}
	digest, err := doc.digest()
	if err != nil {
		return nil, err
	}
	doc.Digest = digest
	return json.Marshal(doc)
}

// digest hashes the compact JSON of the document without its digest.
func (d document) digest() (string, error) {
	d.Digest = ""
	data, err := json.Marshal(d)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// UnmarshalJSON reads a written plan. It returns ErrEdited where the digest
// does not fit, and an error that names what is allowed where the document is
// no plan.
func (p *Plan) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var doc document
	if err := dec.Decode(&doc); err != nil {
		return fmt.Errorf("decoding the plan: %w", err)
	}
	if doc.APIVersion != APIVersion || doc.Kind != Kind {
		return fmt.Errorf("the document is %q %q, not %s %s: give a file that plan --out wrote", doc.APIVersion, doc.Kind, APIVersion, Kind)
	}
	digest, err := doc.digest()
	if err != nil {
		return err
	}
	if digest != doc.Digest {
		return ErrEdited
	}
	*p = Plan{Target: doc.Target, SettingsHash: doc.SettingsHash, Inputs: doc.Inputs, Changes: doc.Changes, Notes: doc.Notes}
	return nil
}

// Moved says in which ways the world, planned anew as fresh, is no longer what
// the approved plan p was made for; empty where it is.
func (p Plan) Moved(fresh Plan) []string {
	var moved []string
	for _, key := range slices.Sorted(maps.Keys(p.Target)) {
		if p.Target[key] != fresh.Target[key] {
			moved = append(moved, fmt.Sprintf("target %s: approved for %q, now %q", key, p.Target[key], fresh.Target[key]))
		}
	}
	if p.SettingsHash != fresh.SettingsHash {
		moved = append(moved, fmt.Sprintf("settings: approved %s, now %s", p.SettingsHash, fresh.SettingsHash))
	}
	now := map[string]Change{}
	for _, c := range fresh.Changes {
		now[c.ID] = c
	}
	for _, c := range p.Changes {
		if why := c.moved(now); why != "" {
			moved = append(moved, c.Target+": "+why)
		}
		delete(now, c.ID)
	}
	for _, c := range fresh.Changes {
		if _, left := now[c.ID]; left && c.Action != Unchanged {
			moved = append(moved, c.Target+": not in the approved plan")
		}
	}
	return moved
}

// moved says why the change is no longer the approved one. What has come to be
// as it was approved (a plan that was interrupted and is applied again) has
// not moved, and neither has an action that is no longer needed.
func (c Change) moved(now map[string]Change) string {
	fresh, ok := now[c.ID]
	switch {
	case !ok && c.Action == Run:
		return ""
	case !ok:
		return "no longer part of the plan"
	}
	before, after := c.texts()
	freshBefore, freshAfter := fresh.texts()
	switch {
	case fresh.Action != Unchanged && shape(c.Before, before) != shape(fresh.Before, freshBefore):
		return "changed since the plan was made"
	case shape(c.After, after) != shape(fresh.After, freshAfter):
		return "the wanted content is another than the approved one"
	}
	return ""
}

// shape is all that can be compared of one side of a change: a written plan
// holds no secrets, and whether one was replaced depends on the other side.
func shape(v *Value, text string) string {
	if v == nil {
		return "absent"
	}
	return v.Mode + " " + strings.ReplaceAll(text, maskedNew, masked)
}
