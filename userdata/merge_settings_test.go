package userdata

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"

	"github.com/eksproxy/eksproxy/bootdata"
)

const ourSettings = `# eksproxy format 1
[settings.network]
https-proxy = "http://proxy.example:3128"
no-proxy = [
  "10.40.0.0/16",
  ".svc",
]

[settings.pki.eksproxy]
data = "LS0t"
trusted = true
`

func mergeSettings(t *testing.T, in string, remove bool) Merged {
	t.Helper()
	o := MergeOptions{OS: Bottlerocket, For: SelfManaged, Remove: remove}
	if !remove {
		o.Ours = []bootdata.Part{bootdata.NewPart(bootdata.TypeTOML, "eksproxy.toml", []byte(ourSettings))}
	}
	return merge(t, in, o)
}

func table(t *testing.T, text string) map[string]any {
	t.Helper()
	var data map[string]any
	if err := toml.Unmarshal([]byte(text), &data); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return data
}

// TestMergeSettings: keys are set, what else is there stays with its comments,
// a second merge changes nothing, and --remove gives the input (BL-016, BL-047).
func TestMergeSettings(t *testing.T) {
	tests := []struct {
		name, in string
		want     string // settings.network, as inline TOML
		keeps    []string
	}{
		{"nothing", "", `{"https-proxy"="http://proxy.example:3128","no-proxy"=["10.40.0.0/16",".svc"]}`, nil},
		{"another table", "# mine\n[settings.kubernetes]\nmax-pods = 17 # why\n", `{"https-proxy"="http://proxy.example:3128","no-proxy"=["10.40.0.0/16",".svc"]}`, []string{"# mine\n[settings.kubernetes]\nmax-pods = 17 # why\n"}},
		{"BL-047 the table is there", "[settings.network]\nhostname = \"n1\" # mine\n\n[settings.motd]\n", `{hostname="n1","https-proxy"="http://proxy.example:3128","no-proxy"=["10.40.0.0/16",".svc"]}`, []string{"hostname = \"n1\" # mine\n\n[settings.motd]\n"}},
		{"BL-047 its keys are there", "[settings.network]\nhttps-proxy = \"http://old:1\"\nno-proxy = [\n  \"one\", # first\n  \".svc\"\n]\nhostname = \"n1\"\n", `{hostname="n1","https-proxy"="http://proxy.example:3128","no-proxy"=["one",".svc","10.40.0.0/16"]}`, []string{"# kept: https-proxy = \"http://old:1\"\n", "# kept:   \"one\", # first\n"}},
		{"BL-016 glued entries", "[settings.network]\nno-proxy = [\".internal,s3.example\", \" a \"]\n", `{"https-proxy"="http://proxy.example:3128","no-proxy"=[".internal","s3.example","a","10.40.0.0/16",".svc"]}`, nil},
		{"BL-047 a table below", "[settings.network.hosts]\na = 1\n", `{hosts={a=1},"https-proxy"="http://proxy.example:3128","no-proxy"=["10.40.0.0/16",".svc"]}`, nil},
		{"a text that looks like a table", "[settings]\nmotd = \"\"\"\n[settings.network]\nhttps-proxy = 1\n\"\"\"\n", `{"https-proxy"="http://proxy.example:3128","no-proxy"=["10.40.0.0/16",".svc"]}`, []string{"\n[settings.network]\nhttps-proxy = 1\n\"\"\"\n"}},
		{"no end of line", "[settings.motd]", `{"https-proxy"="http://proxy.example:3128","no-proxy"=["10.40.0.0/16",".svc"]}`, nil},
		{"a PKI bundle of theirs", "[settings.pki.corp]\ndata = \"eA==\"\ntrusted = true\n", `{"https-proxy"="http://proxy.example:3128","no-proxy"=["10.40.0.0/16",".svc"]}`, []string{"[settings.pki.corp]\ndata = \"eA==\"\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := mergeSettings(t, tt.in, false)
			got := table(t, string(m.Document))
			want := table(t, "network = "+tt.want)["network"]
			settings := got["settings"].(map[string]any)
			if diff := cmp.Diff(want, settings["network"]); diff != "" {
				t.Errorf("settings.network (-want +got):\n%s\n%s", diff, m.Document)
			}
			if settings["pki"].(map[string]any)["eksproxy"] == nil {
				t.Error("the certificate is not there")
			}
			for _, k := range tt.keeps {
				if !strings.Contains(string(m.Document), k) {
					t.Errorf("%q is not kept in\n%s", k, m.Document)
				}
			}
			if again := mergeSettings(t, string(m.Document), false); string(again.Document) != string(m.Document) {
				t.Errorf("a second merge changes something:\n%s", cmp.Diff(string(m.Document), string(again.Document)))
			}
			before := tt.in
			if before != "" && !strings.HasSuffix(before, "\n") {
				before += "\n"
			}
			if diff := cmp.Diff(before, string(mergeSettings(t, string(m.Document), true).Document)); diff != "" {
				t.Errorf("--remove (-before +after):\n%s", diff)
			}
		})
	}
}

// TestMergeSettingsAnew: BL-047, a table of ours that is written inline or with
// dotted keys becomes one table, and a note says that comments are gone.
func TestMergeSettingsAnew(t *testing.T) {
	for name, in := range map[string]string{
		"dotted at the root":   "settings.network.hostname = \"n1\"\n",
		"dotted in a table":    "[settings]\nnetwork.hostname = \"n1\"\n",
		"inline":               "[settings]\nnetwork = { hostname = \"n1\" }\n",
		"inline, one level up": "settings = { network = { hostname = \"n1\" } }\n",
	} {
		t.Run(name, func(t *testing.T) {
			m := mergeSettings(t, in, false)
			network := table(t, string(m.Document))["settings"].(map[string]any)["network"].(map[string]any)
			if network["hostname"] != "n1" || network["https-proxy"] != "http://proxy.example:3128" || len(m.Notes) != 1 {
				t.Errorf("network %v, notes %q", network, m.Notes)
			}
		})
	}
}

// TestMergeSettingsRendered: a document that eksproxy rendered is merged into
// as itself, and keeps what was added.
func TestMergeSettingsRendered(t *testing.T) {
	cluster := "\n[settings.kubernetes]\ncluster-name = \"blue\"\n"
	for name, in := range map[string]string{"ours alone": ourSettings, "whole": ourSettings + cluster} {
		if got := mergeSettings(t, in, false).Document; string(got) != in {
			t.Errorf("%s: (-before +after)\n%s", name, cmp.Diff(in, string(got)))
		}
		older := strings.ReplaceAll(in, "3128", "8080")
		if got := mergeSettings(t, older, false).Document; string(got) != in {
			t.Errorf("%s, older: (-want +got)\n%s", name, cmp.Diff(in, string(got)))
		}
	}
	if got := mergeSettings(t, ourSettings, true).Document; strings.TrimSpace(string(got)) != "" {
		t.Errorf("--remove leaves\n%s", got)
	}
	if got := mergeSettings(t, ourSettings+cluster, true).Document; string(got) != cluster {
		t.Errorf("--remove leaves\n%s", got)
	}
	added := strings.Replace(ourSettings, "no-proxy", "hostname = \"n1\"\nno-proxy", 1)
	m := mergeSettings(t, added, false)
	if table(t, string(m.Document))["settings"].(map[string]any)["network"].(map[string]any)["hostname"] != "n1" {
		t.Errorf("what was added is lost:\n%s", m.Document)
	}
}

// TestMergeSettingsErrors: BL-046, BL-047, without content.
func TestMergeSettingsErrors(t *testing.T) {
	const secret = "hunter2"
	for _, tt := range []struct{ name, in, want string }{
		{"BL-046 MIME", theirDocument(), "the document is MIME, and Bottlerocket reads TOML alone"},
		{"BL-046 script", theirRun, "the document is script"},
		{"BL-047 twice", "[settings.network]\nhostname = \"" + secret + "\"\n[settings.network]\n", "there twice"},
		{"BL-047 key twice", "[settings]\nmotd = \"" + secret + "\"\nmotd = \"x\"\n", "there twice"},
		{"no TOML", "[settings]\nmotd = " + secret + "\n", "line 2"},
		{"a value for a table", "[settings]\nnetwork = \"" + secret + "\"\n", "settings.network is a value"},
		{"a block without end", "# BEGIN eksproxy format 1\n", "line 1: our block has no end"},
		{"a block in a block", "# BEGIN eksproxy format 1\n# BEGIN eksproxy format 1\n# END eksproxy\n", "line 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Merge([]byte(tt.in), MergeOptions{OS: Bottlerocket, For: SelfManaged, Ours: []bootdata.Part{{Body: []byte(ourSettings)}}})
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}
