package noproxy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/noproxy"
)

type valueFault struct{ value, code, affected, fixed string }

func valueFaults() []valueFault {
	return []valueFault{
		{"localhost, example.com", "NP001", "apt", "localhost,example.com"},
		{"a.test\texample.com", "NP001", "curl 8.9-8.17", "a.test,example.com"},
		{"a.test;example.com", "NP002", "Go std <= 1.26", "a.test,example.com"},
		{"a.test|example.com", "NP002", "Go std <= 1.26", "a.test,example.com"},
		{"example.com.", "NP003", "Go std <= 1.26", "example.com"},
		{"example.com:8080", "NP004", "curl 8.9-8.17", "example.com"},
		{"10.0.0.0/8:443", "NP004", "Go std <= 1.26", "10.0.0.0/8"},
		{"https://ABC.gr7.eu-west-1.eks.amazonaws.com", "NP005", "Go std <= 1.26", "ABC.gr7.eu-west-1.eks.amazonaws.com"},
		{"http://user:secret@git.example:80/x", "NP005", "Go std <= 1.26", "git.example"},
		{"git.example/x", "NP005", "Go std <= 1.26", "git.example"},
		{"a.test,,b.test,", "NP007", "", "a.test,b.test"},
		{"a.test,*", "NP008", "Go std <= 1.26", ""},
		{".", "NP009", "", ""},
		{"com", "NP009", "Go std <= 1.26", ""},
		{".example", "NP009", "Go std <= 1.26", ""},
		{"0.0.0.0/0", "NP009", "", ""},
		{"[fd00:ec2::23]", "NP010", "httpx", "fd00:ec2::23"},
		{"[fd64:1:2::1]:443", "NP010", "Go std <= 1.26", "fd64:1:2::1"},
		{"fd00::/8", "NP011", "httpx", ""},
		{"169.254.0.0/16", "NP018", "botocore, AWS CLI", "169.254.0.0/16,169.254.169.254,169.254.170.2,169.254.170.23"},
		{".eu-west-1.compute.internal,*.eu-west-1.compute.internal,s3.us-east-1.amazonaws.com", "NP019", "", ""},
		{"sts.cn-north-1.amazonaws.com", "NP020", "", ""},
		{"ID.yl4.cn-north-1.eks.amazonaws.com.cn,ec2.amazonaws.com", "NP020", "", ""},
		{"eks.eu-west-1.amazonaws.com", "NP021", "Go std <= 1.26", ""},
		{".eks.amazonaws.com,*.eks.amazonaws.com", "NP022", "Go std <= 1.26", ""},
		{"example.com\n", "NP026", "", "example.com"},
		{"a.test\r\nexample.com\r\n", "NP026", "Go std <= 1.26", "a.test,example.com"},
		{"10.*", "NP027", "Go std <= 1.26", "10.0.0.0/8"},
		{"192.168.", "NP027", "Go std <= 1.26", "192.168.0.0/16"},
		{"example.com # managed", "NP028", "", "example.com"},
		{"“localhost”", "NP029", "", "localhost"},
		{"10.1.2.3/8", "NP030", "", "10.0.0.0/8"},
		{"10.0.0/8", "NP030", "", ""},
		{"exa$mple.com", "NP031", "", ""},
		{".corp.example", "NP032", "AWS SDK Java v2", ".corp.example,*.corp.example"},
		{"*.corp.example", "NP032", "curl 8.9-8.17", "*.corp.example,.corp.example"},
		{".amazonaws.com,*.amazonaws.com", "NP033", "Go std <= 1.26", ""},
		{"eu-west-1.amazonaws.com", "NP033", "Go std <= 1.26", ""},
		{".internal,*.internal", "NP034", "Go std <= 1.26", ""},
		{"10.100.0.0/16", "NP035", "wget", "10.100.0.0/16,10.100.0.1"},
		{"a.test,A.TEST", "NP036", "", "a.test"},
	}
}

// TestLintValue: each kind of fault in a value, and in what the fixed value has
// instead; "" where there is no safe fix. The bug reports are BL-007 (brackets),
// BL-008 (URLs), BL-011 (patterns), BL-014 (blanks), BL-015 (line ends), BL-017
// (partitions) and BL-027 (comments).
func TestLintValue(t *testing.T) {
	for _, tt := range valueFaults() {
		i := slices.IndexFunc(noproxy.LintValue(tt.value), func(f noproxy.Finding) bool { return f.Code == tt.code })
		if i < 0 {
			t.Errorf("%q: %v, want %s", tt.value, noproxy.Codes(noproxy.LintValue(tt.value)), tt.code)
			continue
		}
		f := noproxy.LintValue(tt.value)[i]
		if tt.affected != "" && !slices.Contains(f.Clients, tt.affected) {
			t.Errorf("%q: clients %v, want %s among them", tt.value, f.Clients, tt.affected)
		}
		checkFixed(t, tt.value, tt.code, tt.fixed)
	}
}

// checkFixed holds --fix to what it should print, which has no findings, and to
// naming the fault where there is no safe fix.
func checkFixed(t *testing.T, value, code, want string) {
	t.Helper()
	fixed := noproxy.Fix(value)
	if want == "" {
		if !slices.Contains(noproxy.Codes(fixed.Left), code) {
			t.Errorf("%q: fixed to %q, and %s is not among what is left: %v", value, fixed.NoProxy, code, noproxy.Codes(fixed.Left))
		}
		return
	}
	if fixed.NoProxy != want {
		t.Errorf("%q: fixed to %q, want %q", value, fixed.NoProxy, want)
	}
	if len(fixed.Left) > 0 {
		t.Errorf("%q: fixed to %q, which has %v", value, fixed.NoProxy, noproxy.Codes(fixed.Left))
	}
	checkKept(t, value, fixed.NoProxy)
}

// checkKept: what was direct in all clients is so with the other value too.
func checkKept(t *testing.T, before, after string) {
	t.Helper()
	hosts := "localhost,example.com,www.example.com,git.example,10.1.2.3,10.100.0.1,169.254.169.254,169.254.170.23,a.test,www.corp.example"
	for text := range strings.SplitSeq(hosts, ",") {
		for _, target := range parseAll(t, "http://"+text+"/", "https://"+text+":8443/") {
			one := []noproxy.Target{target}
			was, is := noproxy.Explain(noproxy.ValueEnvironment(before), noproxy.Clients(), one), noproxy.Explain(noproxy.ValueEnvironment(after), noproxy.Clients(), one)
			if allDirect(was) && !allDirect(is) {
				t.Errorf("%q is direct in all clients with %q, and no longer with %q", target.URL(), before, after)
			}
		}
	}
}

func allDirect(items []noproxy.Explanation) bool {
	return !slices.ContainsFunc(items, func(e noproxy.Explanation) bool {
		return e.Decision == noproxy.Proxied || e.Decision == noproxy.Failed
	})
}

// good is a proxy without faults.
const good = "http://proxy.example:3128"

type environmentFault struct {
	code, affected string
	change         func(noproxy.Environment)
}

func environmentFaults() []environmentFault {
	both := func(name, value string) func(noproxy.Environment) {
		return func(e noproxy.Environment) { e[strings.ToLower(name)], e[name] = value, value }
	}
	return []environmentFault{
		{"NP006", "git", func(e noproxy.Environment) { e["no_proxy"] = "" }},
		{"NP012", "Go std <= 1.26", func(e noproxy.Environment) { e["NO_PROXY"] = "other.example" }},
		{"NP013", "wget", func(e noproxy.Environment) { delete(e, "http_proxy") }},
		{"NP014", "Node core http", both("HTTPS_PROXY", "proxy.example:3128")},
		{"NP015", "wget", both("HTTP_PROXY", "https://proxy.example:3128")},
		{"NP016", "", both("HTTP_PROXY", "http://user:p#ss@proxy.example:3128")},
		{"NP017", "axios", both("HTTP_PROXY", "http://user:p%40ss@proxy.example:3128")},
		{"NP023", "Ruby Net::HTTP", func(e noproxy.Environment) { delete(e, "http_proxy"); delete(e, "HTTP_PROXY") }},
		{"NP024", "Go std <= 1.26", func(e noproxy.Environment) { delete(e, "https_proxy"); delete(e, "HTTPS_PROXY") }},
		{"NP025", "", func(e noproxy.Environment) { delete(e, "no_proxy"); delete(e, "NO_PROXY") }},
		{"NP026", "", both("HTTP_PROXY", good+"\r")},
		{"NP028", "", both("HTTP_PROXY", good+" # ours")},
		{"NP029", "", both("HTTP_PROXY", `"`+good+`"`)},
	}
}

// TestLintEnvironment: faults of the variables as a set; BL-013 (one case),
// BL-015, BL-019 (no list) and BL-022 (one protocol).
func TestLintEnvironment(t *testing.T) {
	full := func(change func(noproxy.Environment)) noproxy.Environment {
		env := noproxy.ValueEnvironment("localhost")
		for _, name := range []string{"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"} {
			env[name] = good
		}
		change(env)
		return env
	}
	if found := noproxy.Lint(full(func(noproxy.Environment) {})); len(found) > 0 {
		t.Errorf("the good environment: %v", found)
	}
	for _, tt := range environmentFaults() {
		found := noproxy.Lint(full(tt.change))
		i := slices.IndexFunc(found, func(f noproxy.Finding) bool { return f.Code == tt.code })
		if i < 0 {
			t.Errorf("%s is not found: %v", tt.code, noproxy.Codes(found))
			continue
		}
		if tt.affected != "" && tt.affected != "git" && !slices.Contains(found[i].Clients, tt.affected) {
			t.Errorf("%s: clients %v, want %s among them", tt.code, found[i].Clients, tt.affected)
		}
		for _, f := range found {
			if text := f.Message + f.Fix + f.Entry; strings.Contains(text, "p#ss") || strings.Contains(text, "p%40ss") {
				t.Errorf("%s shows the password: %s", f.Code, text)
			}
		}
	}
}

// TestLintCodes: the codes are sorted, explained, and each has a fixture.
func TestLintCodes(t *testing.T) {
	tried := map[string]bool{}
	for _, f := range valueFaults() {
		tried[f.code] = true
	}
	for _, f := range environmentFaults() {
		tried[f.code] = true
	}
	last := ""
	for _, r := range noproxy.LintRules() {
		if r.Code <= last || r.Severity == "" || r.Title == "" || r.Fix == "" || !tried[r.Code] {
			t.Errorf("rule %+v, after %s, tried %v", r, last, tried[r.Code])
		}
		last = r.Code
	}
}

// Zones of Kubernetes and EC2 take in no top-level domain.
func TestLintClusterZones(t *testing.T) {
	const value = "localhost,.svc,*.svc,.cluster.local,*.cluster.local,.ec2.internal,*.ec2.internal"
	if found := noproxy.LintValue(value); len(found) > 0 {
		t.Errorf("%s: %v", value, found)
	}
}

func FuzzLint(f *testing.F) {
	for _, seed := range []string{awsPublished, "a b;c|d,.,*,[::1]:80,10.*,x#y,“q”", "http://u:p@h:1/x,fd00::/8,1.2.3.4/8", "\x00\r\n,\t"} {
		f.Add(seed, "http://p.example:1")
	}
	f.Fuzz(func(t *testing.T, value, proxy string) {
		env := noproxy.ValueEnvironment(value)
		env["HTTP_PROXY"] = proxy
		noproxy.Lint(env)
		fixed := noproxy.Fix(value)
		if again := noproxy.Fix(fixed.NoProxy); len(fixed.Left) == 0 && again.NoProxy != fixed.NoProxy {
			t.Errorf("%q is fixed to %q, and that to %q", value, fixed.NoProxy, again.NoProxy)
		}
	})
}
