package noproxy_test

import (
	"strings"
	"testing"

	"github.com/eksproxy/eksproxy/noproxy"
)

// FuzzDecide holds every model to this: no input panics, the same question has
// the same answer, and the deciding entry stands in the value.
func FuzzDecide(f *testing.F) {
	for _, row := range rows(vectors)[1:] {
		f.Add(row[1], row[2])
	}
	f.Add("http://[::]:99999999999,[::1]:,*:,a:0,.,..,*.,-,1-,10.0.0.0-,/,[]/8,::/x,0x/8,%", "http://[fe80::1%25eth0]:1/")
	f.Fuzz(func(t *testing.T, value, rawURL string) {
		target, err := noproxy.ParseTarget(rawURL)
		if err != nil {
			return
		}
		env := sixVariables(value)
		env["http.proxyHost"], env["http.nonProxyHosts"] = "proxy.test", value
		for _, c := range noproxy.Clients() {
			m := c.Prepare(env)
			got := m.Decide(target)
			if again := c.Prepare(env).Decide(target); again != got || m.Decide(target) != got {
				t.Errorf("%s: %q, %s: %v, then %v", c.Name(), value, rawURL, got, again)
			}
			switch got.Decision {
			case noproxy.Direct, noproxy.Proxied, noproxy.Failed, noproxy.Ignored:
			default:
				t.Errorf("%s: %q, %s: decision %q", c.Name(), value, rawURL, got.Decision)
			}
			if c.Name() != "JDK" && !strings.Contains(strings.ReplaceAll(value, " ", ""), strings.ReplaceAll(got.Entry, " ", "")) {
				t.Errorf("%s: %q, %s: the entry %q is not in the value", c.Name(), value, rawURL, got.Entry)
			}
		}
	})
}

func FuzzParseTarget(f *testing.F) {
	for _, s := range []string{"http://a/", "https://[::1%25lo]:1/", "http://0x7f.1/", "http://[::ffff:1.2.3.4]/", "http://1.2.3.4.:80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, rawURL string) {
		target, err := noproxy.ParseTarget(rawURL)
		if err == nil && (target.Host() == "" || target.Port() == 0) {
			t.Errorf("%q is %+v", rawURL, target)
		}
	})
}

// sixty is a value of 60 entries as compose emits them.
func sixty() string {
	var entries []string
	for name := range strings.FieldsSeq("ecr.api ec2 sts eks-auth logs ssm kms sqs xray elasticfilesystem autoscaling monitoring events secretsmanager") {
		entries = append(entries, name+".us-east-1.amazonaws.com")
	}
	for zone := range strings.FieldsSeq("svc cluster.local ec2.internal dkr.ecr.us-east-1.amazonaws.com s3.us-east-1.amazonaws.com s3.dualstack.us-east-1.amazonaws.com corp.example") {
		entries = append(entries, zone, "."+zone, "*."+zone)
	}
	entries = append(entries, strings.Fields("localhost 127.0.0.1 ::1 169.254.169.254 169.254.170.2 169.254.170.23 172.20.0.1 10.0.0.0/16 100.64.0.0/16 172.20.0.0/16")...)
	for len(entries) < 60 {
		entries = append(entries, "host"+string(rune('a'+len(entries)-40))+".corp.example.org")
	}
	return strings.Join(entries, ",")
}

func TestDecideAllocatesNothing(t *testing.T) {
	for _, c := range noproxy.Clients() {
		m := c.Prepare(sixVariables(sixty()))
		for _, rawURL := range []string{"https://sts.eu-west-1.amazonaws.com/", "http://192.0.2.1/", "http://[fd00::1]:8080/"} {
			target := parse(t, rawURL)
			if n := testing.AllocsPerRun(100, func() { m.Decide(target) }); n != 0 {
				t.Errorf("%s allocates %.0f times for %s", c.Name(), n, rawURL)
			}
		}
	}
}

// BenchmarkDecide is one decision against 60 entries of which none matches.
func BenchmarkDecide(b *testing.B) {
	for _, c := range noproxy.Clients() {
		m := c.Prepare(sixVariables(sixty()))
		target, err := noproxy.ParseTarget("https://bedrock-runtime.us-west-2.amazonaws.com/model")
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.Name(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Decide(target)
			}
		})
	}
}
