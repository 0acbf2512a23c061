package addons

import (
	"strings"
	"testing"
)

func additions() []Addition {
	return []Addition{
		{"/extraEnv/-", map[string]any{"name": "NO_PROXY", "value": "a"}},
		{"/controller/podAnnotations/eksproxy.dev~1settings-hash", "h"},
	}
}

// Values are edited in the language they came in, with all else as it was, and
// come back as they were.
func TestEditedAndBack(t *testing.T) {
	for _, before := range []string{
		"", "{}", `{"b":1,"a":[1,2.50,1e400,true,null,"\u20ac<&>"],"extraEnv":[]}`, "{\n  \"extraEnv\": [\n    {\n      \"name\": \"A\"\n    }\n  ]\n}",
		"# head\nextraEnv: # ours\n  - name: A\n    value: \"007\"\nenv: {X: \"1\"} # flow\nn: 0o17\n",
		"extraEnv: [{name: A, value: b}]\n", "extraEnv: []\n", "base: &b\n  - name: A\nextraEnv: *b\n", "controller:\n  podAnnotations:\n    x: y\n",
	} {
		after, record, left, err := edited(before, managedRecord{}, additions())
		if err != nil || len(left) > 0 || len(record.Additions) != 2 {
			t.Errorf("%q: %v, left %v", before, err, left)
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(before), "{\"") != strings.HasPrefix(after, "{\"") && before != "" && before != "{}" {
			t.Errorf("%q has become %q", before, after)
		}
		again, _, _, err := edited(after, record, additions())
		if err != nil || !sameValues(again, after) {
			t.Errorf("%q: a second edit gives %q, %v", after, again, err)
		}
		back, gone, _, err := edited(after, record, nil)
		if err != nil || len(gone.Additions) > 0 || !sameValues(back, before) && (before != "" || back != "{}") {
			t.Errorf("%q came back as %q, %v", before, back, err)
		}
		if strings.Contains(before, "#") && back != before {
			t.Errorf("comments of %q came back as %q", before, back)
		}
	}
}

// What others have set is left; what was changed or moved since is told apart.
func TestEditedLeavesOthers(t *testing.T) {
	_, record, left, err := edited(`{"extraEnv":[{"name":"NO_PROXY","value":"mine"}]}`, managedRecord{}, additions())
	if err != nil || len(left) != 1 || len(record.Additions) != 1 {
		t.Errorf("left %v, record %v, %v", left, record, err)
	}
	record = managedRecord{Additions: additions(), Created: []string{"/extraEnv"}}
	after, _, _, err := edited(`{"extraEnv":[{"name":"X"},{"name":"NO_PROXY","value":"a"}]}`, record, nil)
	if err != nil || after != `{"extraEnv":[{"name":"X"}]}` {
		t.Errorf("%s, %v", after, err)
	}
	after, _, _, err = edited(`{"extraEnv":[{"name":"NO_PROXY","value":"changed"}]}`, record, nil)
	if err != nil || after != `{"extraEnv":[{"name":"NO_PROXY","value":"changed"}]}` {
		t.Errorf("%s, %v", after, err)
	}
}

func TestValuesThatCannotBeEdited(t *testing.T) {
	for _, before := range []string{"[]", "a: b: c", "extraEnv: text\n", "x: &x {extraEnv: []}\n<<: *x\n", "a: 1\n---\nb: 2\n", "extraEnv:\n"} {
		if after, _, _, err := edited(before, managedRecord{}, additions()); err == nil {
			t.Errorf("%q has become %q", before, after)
		}
	}
}
