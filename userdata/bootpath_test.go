package userdata

import (
	"errors"
	"strings"
	"testing"
)

// TestBootPaths: BL-025, BL-036. Every combination has a verdict, and it is the
// one of the facts.
func TestBootPaths(t *testing.T) {
	bools := []bool{false, true}
	for _, r := range []release{releaseWorks, releaseBroken, releaseIgnores} {
		for n := range 64 {
			bit := func(i int) bool { return bools[n>>i&1] }
			s := situation{os: AL2023, release: r, credentials: bit(0), resigned: bit(1), endpoint: bit(2), inImage: bit(3), idNodeName: bit(4), rule: bit(5)}
			row, ok := firstRow(s)
			if !ok {
				t.Fatalf("%+v: no row", s)
			}
			direct := s.endpoint || s.inImage || s.idNodeName
			proxied := r == releaseWorks && (s.rule || !s.credentials && !s.resigned)
			if want := direct || proxied; row.Boots != want {
				t.Errorf("%+v: boots %v, want %v", s, row.Boots, want)
			}
			if row.Boots != (len(row.Ways) == 0) {
				t.Errorf("%+v: ways out %v", s, row.Ways)
			}
			if s.inImage && row.Feed == FeedEnvironment {
				t.Errorf("%+v: a URL in NodeConfig would beat the agent's drop-in", s)
			}
			if s.credentials && row.Feed == FeedEnvironment && !s.rule {
				t.Errorf("%+v: the environment has no password, which the proxy asks for", s)
			}
		}
	}
	for _, os := range []OS{AL2, Ubuntu, Bottlerocket, ""} {
		for n := range 4 {
			if row, ok := firstRow(situation{os: os, release: releaseWorks, credentials: n&1 > 0, resigned: n&2 > 0}); !ok || !row.Boots {
				t.Errorf("%q: %v %v", os, ok, row)
			}
		}
	}
}

func firstRow(s situation) (BootPath, bool) {
	for _, row := range BootPaths() {
		if row.matches(s) {
			return row, true
		}
	}
	return BootPath{}, false
}

// TestRelease: how releases are written.
func TestRelease(t *testing.T) {
	for text, want := range map[string]release{
		"": releaseWorks, "v20251120": releaseWorks, "20251120": releaseWorks, "1.33.5-20260101": releaseWorks, "v20251119": releaseBroken,
		"v20251112": releaseBroken, "v20251007": releaseBroken, "v20251006": releaseIgnores, "1.30.0-20240101": releaseIgnores,
	} {
		if got, err := (BootOptions{AMIRelease: text}).release(); got != want || err != nil {
			t.Errorf("%q: %q %v", text, got, err)
		}
	}
	for _, text := range []string{"latest", "v2025", "v20251120x", "1.33"} {
		if _, err := (BootOptions{AMIRelease: text}).release(); err == nil || !strings.Contains(err.Error(), "v20251120") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

const (
	secretSpec   = "  httpProxy: http://proxy.example:3128\n  credentials: {from: 'ssm:/corp/proxy'}\n  noProxy: {add: [.corp.example]}\n"
	resignedSpec = plainSpec + "  tlsInspection: true\n"
)

// TestBootPathRefuses: what cannot boot is refused with the ways out in their
// order, and each way makes it boot.
func TestBootPathRefuses(t *testing.T) {
	for name, spec := range map[string]string{"credentials": secretSpec, "resigned": resignedSpec} {
		in := inputFrom(t, AL2023, ManagedNodeGroup, spec)
		in.Agent = Agent{URL: "s3://b/k", SHA256: strings.Repeat("a", 64)}
		_, err := Render(in)
		r, ok := errors.AsType[*RefusedError](err)
		if !ok || len(r.Ways) != 4 {
			t.Fatalf("%s: %v", name, err)
		}
		for i, want := range []string{"--vpc-endpoint ec2", "--agent-in-image", "--instance-id-node-name", "ec2.eu-west-1 without password"} {
			if !strings.Contains(r.Ways[i], want) {
				t.Errorf("%s: way %d is %q, want %q", name, i+1, r.Ways[i], want)
			}
		}
		for way, take := range map[string]func(*Input){
			"endpoint": func(in *Input) { in.Boot.VPCEndpoints = []string{"ecr.api", "ec2"} }, "name": func(in *Input) { in.Boot.InstanceIDNodeName = true },
			"image": func(in *Input) { in.Agent = Agent{InImage: true} }, "rule": func(in *Input) { in.Boot.EC2Rule = true },
		} {
			with := in
			take(&with)
			out, err := Render(with)
			if err != nil {
				t.Errorf("%s, %s: %v", name, way, err)
			}
			hasURL := strings.Contains(string(out.Text), "HTTPS_PROXY: ")
			if want := way == "rule" || name == "resigned" && way != "image"; hasURL != want {
				t.Errorf("%s, %s: a URL in NodeConfig is %v, want %v", name, way, hasURL, want)
			}
		}
	}
}

// TestExemptEC2: a proxy that does not re-sign EC2 is none that does.
func TestExemptEC2(t *testing.T) {
	for exempt, boots := range map[string]bool{
		"ec2.eu-west-1.amazonaws.com": true, ".amazonaws.com": true, ".eu-west-1.amazonaws.com": true, "ec2.us-east-1.amazonaws.com": false,
		"amazonaws.com": false, ".ec2.eu-west-1.amazonaws.com": true, "sts.amazonaws.com": false,
	} {
		_, err := Render(inputFrom(t, AL2023, SelfManaged, withCA(t, resignedSpec+"  inspectionExempt: ["+exempt+"]\n", 10)))
		if (err == nil) != boots {
			t.Errorf("%s: %v", exempt, err)
		}
	}
}

// TestOldReleases: those that ignore or misapply the environment are named.
func TestOldReleases(t *testing.T) {
	in := input(t, AL2023, SelfManaged)
	in.Boot.AMIRelease = "v20251023"
	if _, err := Render(in); err == nil || !strings.Contains(err.Error(), "1. take an image of release v20251120 or later") {
		t.Errorf("broken: %v", err)
	}
	in.Boot.VPCEndpoints = []string{"ec2"}
	out := render(t, in)
	if !strings.Contains(strings.Join(out.Notes, "\n"), "release v20251023 is v20251007 to v20251112") {
		t.Errorf("notes: %v", out.Notes)
	}
	if !strings.Contains(string(out.Text), ",ec2.eu-west-1.amazonaws.com\"") {
		t.Error("NO_PROXY of the NodeConfig lacks the host that has an endpoint")
	}
}
