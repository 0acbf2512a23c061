package verify_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eksproxy/eksproxy/verify"
)

func says(id string, findings ...verify.Finding) verify.Check {
	return verify.Check{ID: id, Title: "title of " + id, Remedy: "do " + id, Run: func(context.Context) []verify.Finding { return findings }}
}

func TestExitCode(t *testing.T) {
	for _, tt := range []struct {
		statuses []verify.Status
		want     int
	}{
		{nil, 0},
		{[]verify.Status{verify.Pass, verify.Skip, verify.Warn}, 0},
		{[]verify.Status{verify.Unknown, verify.Pass}, 3},
		{[]verify.Status{verify.Unknown, verify.Fail, verify.Warn}, 1},
		{[]verify.Status{"fine"}, 3},
		{[]verify.Status{""}, 3},
	} {
		var checks []verify.Check
		for _, s := range tt.statuses {
			checks = append(checks, says("X", verify.Finding{Status: s}))
		}
		if got := verify.Run(t.Context(), checks, nil).ExitCode(); got != tt.want {
			t.Errorf("%v: exit code %d, want %d", tt.statuses, got, tt.want)
		}
	}
}

// What cannot decide is unknown, never a pass, and the order stays.
func TestNeverAPass(t *testing.T) {
	checks := []verify.Check{
		says("A", verify.Finding{Status: verify.Pass, Evidence: "good"}),
		{ID: "B", Run: func(context.Context) []verify.Finding { panic("nil map") }},
		{ID: "C", Limit: 20 * time.Millisecond, Run: func(context.Context) []verify.Finding {
			time.Sleep(time.Minute) // and does not look at the context
			return []verify.Finding{{Status: verify.Pass}}
		}},
		says("D"),
		says("E", verify.Finding{Status: "fine", Evidence: "really"}),
		says("F", verify.Finding{Status: verify.Fail, Target: "/etc/x"}, verify.Finding{Status: verify.Warn, Remedy: "its own"}),
	}
	var told []string
	r := verify.Run(t.Context(), checks, func(c verify.Check) { told = append(told, c.ID) })
	var got []string
	for _, f := range r.Findings {
		got = append(got, strings.Join([]string{f.ID, string(f.Status), f.Evidence, f.Remedy}, "|"))
	}
	again := "run eksproxy verify again; report it where it stays so"
	want := []string{
		"A|pass|good|",
		"B|unknown|the check broke: nil map|" + again,
		"C|unknown|it did not end within 20ms|" + again,
		"D|unknown|the check says nothing|" + again,
		`E|unknown|the check gives the status "fine"; really|do E`,
		"F|fail||do F",
		"F|warn||its own",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !slices.Equal(told, []string{"A", "B", "C", "D", "E", "F"}) {
		t.Errorf("told %v", told)
	}
	if diff := cmp.Diff([]string{"B", "C", "D", "E"}, r.IDs(verify.Unknown)); diff != "" {
		t.Error(diff)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	checks := []verify.Check{
		{ID: "A", Run: func(ctx context.Context) []verify.Finding {
			cancel()
			<-ctx.Done()
			time.Sleep(time.Minute)
			return nil
		}},
		says("B", verify.Finding{Status: verify.Pass}),
	}
	r := verify.Run(ctx, checks, nil)
	if r.ExitCode() != 3 || r.Summary.Unknown != 2 || r.Findings[1].Evidence != "it was not run: context canceled" {
		t.Errorf("%+v", r)
	}
}

func sample(t *testing.T) verify.Report {
	t.Helper()
	r := verify.Run(t.Context(), []verify.Check{
		says("X001", verify.Finding{Status: verify.Pass, Evidence: "3 files"}),
		says("X002", verify.Finding{Status: verify.Fail, Target: "/etc/a|b", Evidence: "has \x1b[31m*red*\nsecond", Remedy: "echo `date` | cat"}),
	}, nil)
	r.Target = map[string]string{"root": "/"}
	return r
}

func TestWriters(t *testing.T) {
	var table, markdown strings.Builder
	if err := sample(t).WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	if err := sample(t).WriteMarkdown(&markdown); err != nil {
		t.Fatal(err)
	}
	wantTable := "pass     X001  title of X001: 3 files\n" +
		"fail     X002  title of X002: /etc/a|b: has ?[31m*red* second\n" +
		"         remedy: echo `date` | cat\n" +
		"\n1 fail, 0 unknown, 0 warn, 1 pass, 0 skip\n"
	if diff := cmp.Diff(wantTable, table.String()); diff != "" {
		t.Error(diff)
	}
	wantMarkdown := "**1 fail, 0 unknown, 0 warn, 1 pass, 0 skip**\n\n" +
		"| status | id | check | target | evidence | remedy |\n| --- | --- | --- | --- | --- | --- |\n" +
		"| pass | X001 | title of X001 |  | 3 files |  |\n" +
		"| fail | X002 | title of X002 | /etc/a\\|b | has ?[31m\\*red\\* second | ``echo `date` \\| cat`` |\n"
	if diff := cmp.Diff(wantMarkdown, markdown.String()); diff != "" {
		t.Error(diff)
	}
}

func TestJSON(t *testing.T) {
	data, err := json.Marshal(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"apiVersion":"eksproxy.dev/v1alpha1","kind":"VerifyReport","target":{"root":"/"},` +
		`"summary":{"fail":1,"unknown":0,"warn":0,"pass":1,"skip":0},"findings":[` +
		`{"id":"X001","check":"title of X001","status":"pass","evidence":"3 files"},` +
		`{"id":"X002","check":"title of X002","status":"fail","target":"/etc/a|b","evidence":"has \u001b[31m*red*\nsecond","remedy":"echo ` + "`date`" + ` | cat"}]}`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Error(diff)
	}
}
