package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const password = "S3cret/word"

func val(text, mode string) *Value {
	return &Value{Content: NewContent([]byte(text), password), Mode: mode}
}

func sample() Plan {
	return Plan{
		Target:       map[string]string{"root": "/mnt/image", "system": "Amazon Linux 2023, containerd"},
		SettingsHash: "4f2a91c0aa01",
		Inputs:       json.RawMessage(`{"settings":{"httpProxy":["http://proxy.example:3128"]}}`),
		Changes: []Change{
			{ID: "file:/etc/a", Target: "/etc/a", Action: Create, After: val("A=http://u:"+password+"@h:1\n", "0600"), Reason: "why | not", Disruption: "none", Undo: "removed"},
			{ID: "file:/etc/b", Target: "/etc/b", Action: Update, Before: val("x\nproxy_password=old\n", "0644"), After: val("x\nproxy_password="+password+"\n", "0600"), Reason: "packages", Disruption: "none", Undo: "restored"},
			{ID: "file:/etc/c", Target: "/etc/c", Action: Delete, Before: val("gone\n", "0644"), Reason: "not wanted", Disruption: "none", Undo: "written again"},
			{ID: "file:/etc/d", Target: "/etc/d", Action: Unchanged, Before: val("same\n", "0644"), After: val("same\n", "0644"), Reason: "kept", Disruption: "none", Undo: "removed"},
		},
		Notes: []string{"a note"},
	}
}

func TestGolden(t *testing.T) {
	var table, markdown bytes.Buffer
	if err := sample().WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	if err := sample().WriteMarkdown(&markdown); err != nil {
		t.Fatal(err)
	}
	doc, err := json.MarshalIndent(sample(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{"table.txt": table.String(), "markdown.md": markdown.String(), "plan.json": string(doc) + "\n"} {
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if strings.Contains(got, password) || strings.Contains(got, "=old") {
			t.Errorf("%s shows a password:\n%s", name, got)
		}
	}
}

// BL-035: whatever prints a content prints it masked.
func TestContentIsMasked(t *testing.T) {
	c := NewContent([]byte("A="+password+"\nhttps_proxy=http://u:p@ss w/rd@h:1\n"), password)
	in := struct{ C Content }{c}
	doc, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "content", c)
	for _, text := range []string{
		c.String(), fmt.Sprint(c), fmt.Sprintf("%v %+v %#v %s %q %x %d", c, c, c, c, c, c, c),
		fmt.Sprintf("%v %+v", in, &in), string(doc), log.String(), fmt.Sprint([]Content{c}), fmt.Errorf("x %v", c).Error(),
	} {
		for _, secret := range []string{password, "p@ss", "w/rd", fmt.Sprintf("%x", password)} {
			if strings.Contains(text, secret) {
				t.Errorf("%q shows %q", text, secret)
			}
		}
	}
	if string(c.Bytes()) == c.String() {
		t.Error("the real bytes are masked too")
	}
}

func TestMask(t *testing.T) {
	for in, want := range map[string]string{
		"nothing@all":                              "nothing@all",
		"http://u:p@h:1":                           "http://[secret]@h:1",
		"export HTTPS_PROXY='http://u:p@q@h:1'":    "export HTTPS_PROXY='http://[secret]@h:1'",
		"HTTP_PROXY=u:p@h:1":                       "HTTP_PROXY=[secret]@h:1",
		"proxy_password = p w":                     "proxy_password = [secret]",
		"proxy_password=":                          "proxy_password=",
		"Proxy-Authorization: Basic dTpw":          "Proxy-Authorization: [secret]",
		"a\nhttp://u:p@h\nb":                       "a\nhttp://[secret]@h\nb",
		"GET http://u:p@h/: 503 and http://v:q@h2": "GET http://[secret]@h2",
		"http://h:1/":                              "http://h:1/",
		"export DB_PASSWORD='a b' # c":             "export DB_PASSWORD='[secret]",
		"Environment=\"AWS_SECRET_ACCESS_KEY=k\"":  "Environment=\"AWS_SECRET_ACCESS_KEY=[secret]",
		"password = p":                             "password = [secret]",
		"kubelet --token=abc --v=2":                "kubelet --token=[secret]",
		"secretKeyRef: {name: s, key: HTTP_PROXY}": "secretKeyRef: {name: s, key: HTTP_PROXY}",
		"KEY=v": "KEY=v",
	} {
		if got := Mask(in); got != want {
			t.Errorf("Mask(%q) = %q, want %q", in, got, want)
		}
		if got := Mask(Mask(in)); got != Mask(in) {
			t.Errorf("masking %q twice gives %q", in, got)
		}
	}
}

// A password that is replaced by another one shows as changed, one that stays
// does not.
func TestReplacedSecret(t *testing.T) {
	c := Change{Target: "f", Before: val("a=1\nproxy_password=old\n", "0600"), After: val("a=1\nproxy_password=new\n", "0600")}
	if d := c.Diff(); !strings.Contains(d, "+proxy_password=[secret, changed]") {
		t.Errorf("the diff hides that the password changes:\n%s", d)
	}
	c.After = val("a=2\nproxy_password=old\n", "0600")
	if d := c.Diff(); strings.Contains(d, "changed") {
		t.Errorf("the diff says that the password changes:\n%s", d)
	}
}

func read(t *testing.T, data []byte) Plan {
	t.Helper()
	var p Plan
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func written(t *testing.T, p Plan) []byte {
	t.Helper()
	data, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestWrittenPlanReadsBack(t *testing.T) {
	data := written(t, sample())
	p := read(t, data)
	if moved := p.Moved(sample()); len(moved) != 0 {
		t.Errorf("the same plan has moved: %q", moved)
	}
	if again := written(t, p); !bytes.Equal(again, data) {
		t.Errorf("writing it again gives other bytes:\n%s\n%s", data, again)
	}
}

func TestUnusablePlans(t *testing.T) {
	data := string(written(t, sample()))
	for name, c := range map[string]struct{ text, want string }{
		"edited":         {strings.Replace(data, "0600", "0644", 1), ErrEdited.Error()},
		"no digest":      {strings.Replace(data, `"digest"`, `"nodigest"`, 1), "unknown field"},
		"other kind":     {strings.Replace(data, `"Plan"`, `"ProxyConfig"`, 1), "give a file that plan --out wrote"},
		"not JSON":       {"apiVersion: x", "invalid character"},
		"removed digest": {data[:strings.LastIndex(data, ",")] + "}", ErrEdited.Error()},
	} {
		var p Plan
		err := json.Unmarshal([]byte(c.text), &p)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

func TestMoved(t *testing.T) {
	approved := read(t, written(t, sample()))
	for name, c := range map[string]struct {
		change func(*Plan)
		want   string
	}{
		"target":   {func(p *Plan) { p.Target["root"] = "/" }, `target root: approved for "/mnt/image", now "/"`},
		"settings": {func(p *Plan) { p.SettingsHash = "b" }, "settings: approved 4f2a91c0aa01, now b"},
		"before":   {func(p *Plan) { p.Changes[1].Before = val("y\n", "0644") }, "/etc/b: changed since the plan was made"},
		"mode":     {func(p *Plan) { p.Changes[1].Before.Mode = "0640" }, "/etc/b: changed since the plan was made"},
		"appeared": {func(p *Plan) { p.Changes[0].Before = val("", "0644") }, "/etc/a: changed since the plan was made"},
		"after":    {func(p *Plan) { p.Changes[0].After = val("B", "0600") }, "/etc/a: the wanted content is another than the approved one"},
		"gone":     {func(p *Plan) { p.Changes = p.Changes[1:] }, "/etc/a: no longer part of the plan"},
		"new": {func(p *Plan) {
			p.Changes = append(p.Changes, Change{ID: "n", Target: "/n", Action: Create, After: val("n", "")})
		}, "/n: not in the approved plan"},
		"was unchanged": {func(p *Plan) { p.Changes[3].Action, p.Changes[3].Before = Update, val("z", "0644") }, "/etc/d: changed since the plan was made"},
	} {
		fresh := sample()
		c.change(&fresh)
		if got := approved.Moved(fresh); !cmp.Equal(got, []string{c.want}) {
			t.Errorf("%s: moved %q, want %q", name, got, c.want)
		}
	}
	t.Run("interrupted before", func(t *testing.T) {
		fresh := sample()
		fresh.Changes[0].Action, fresh.Changes[0].Before = Unchanged, fresh.Changes[0].After
		if moved := approved.Moved(fresh); len(moved) != 0 {
			t.Errorf("what is already as approved has moved: %q", moved)
		}
	})
}

// stub is an Applier that ends at one target.
type stub struct {
	failAt string
	cancel func()
	got    []string
}

func (s *stub) Apply(_ context.Context, c Change) error {
	if c.Target == s.failAt {
		return errors.New("no space left")
	}
	s.got = append(s.got, c.Target)
	if s.cancel != nil {
		s.cancel()
	}
	return nil
}

func TestApply(t *testing.T) {
	s := &stub{}
	o, err := sample().Apply(t.Context(), s)
	if err != nil || len(o.Left) != 0 || !cmp.Equal(s.got, []string{"/etc/a", "/etc/b", "/etc/c"}) {
		t.Errorf("applied %q, outcome %v, error %v", s.got, o, err)
	}
}

func TestApplyStopsAtAnError(t *testing.T) {
	o, err := sample().Apply(t.Context(), &stub{failAt: "/etc/b"})
	if err == nil || err.Error() != "1 of 3 changes made: applying /etc/b: no space left" {
		t.Errorf("error %v", err)
	}
	if len(o.Done) != 1 || len(o.Left) != 2 || o.Left[0].Target != "/etc/b" {
		t.Errorf("outcome %v", o)
	}
}

func TestApplyInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o, err := sample().Apply(ctx, &stub{cancel: cancel})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "1 of 3 changes made: interrupted before /etc/b") {
		t.Errorf("error %v", err)
	}
	if len(o.Done) != 1 || len(o.Left) != 2 {
		t.Errorf("outcome %v", o)
	}
}
