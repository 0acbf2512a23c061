package bootdata

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func nodeSpec(lines string) string {
	return "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n" + lines
}

// everyField has each field that nodeadm knows.
const everyField = `  cluster: {name: a, apiServerEndpoint: 'https://a', certificateAuthority: LS0t, cidr: 10.0.0.0/16, enableOutpost: true, id: x}
  containerd: {config: "version = 2\n[a]\nb = 1\n", baseRuntimeSpec: {process: {rlimits: [1]}}}
  instance:
    localStorage: {strategy: RAID0, mountPath: /x, disabledMounts: [PodLogs]}
    environment: {default: {A: '1', B: '2'}, kubelet: {C: '3'}}
    network: {nameservers: [1.1.1.1], domains: [a.example]}
  kubelet: {config: {maxPods: 10, evictionHard: {memory: 1}}, flags: [--a=1], maxPodsExpression: '1'}
  featureGates: {InstanceIdNodeName: true, FastImagePull: true}
`

func TestDecodeNodeConfig(t *testing.T) {
	n, err := DecodeNodeConfig([]byte(nodeSpec(everyField)), true)
	if err != nil {
		t.Fatal(err)
	}
	again, err := DecodeNodeConfig(n.Encode(), true)
	if diff := cmp.Diff(n, again); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", "it is empty"},
		{"kind", "kind: x\n", "apiVersion and kind are not"},
		{"version", "apiVersion: node.eks.aws/v9\nkind: NodeConfig\n", "no such version"},
		{"field", nodeSpec("  proxy: " + secret + "\n"), `line 4: nodeadm knows no field "proxy"`},
		{"type", nodeSpec("  cluster: {name: [" + secret + "]}\n"), "line 4: a value has another type"},
		{"YAML", nodeSpec("  a: *" + secret + "\n"), "it is not YAML"},
	} {
		_, err := DecodeNodeConfig([]byte(tt.in), true)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		}
	}
	if _, err := DecodeNodeConfig([]byte(nodeSpec("  proxy: x\n")), false); err != nil {
		t.Errorf("nodeadm passes over a field that it does not know: %v", err)
	}
}

// TestMergeNodeConfigs: the results are those of nodeadm itself (its merge.go
// at 81fec2e8 with mergo 1.0.2), which was built and run on the same input.
func TestMergeNodeConfigs(t *testing.T) {
	tests := []struct{ name, a, b, want string }{
		{"nothing over it", everyField, "", everyField},
		{"over nothing", "", everyField, everyField},
		{"a field of the cluster", "  cluster: {name: a, cidr: 1.0.0.0/8}\n", "  cluster: {cidr: 2.0.0.0/8, id: ''}\n", "  cluster: {name: a, cidr: 2.0.0.0/8}\n"},
		{"false overrides nothing", "  cluster: {enableOutpost: true}\n", "  cluster: {enableOutpost: false}\n", "  cluster: {enableOutpost: true}\n"},
		{"false of a feature overrides", "  featureGates: {InstanceIdNodeName: true, FastImagePull: true}\n", "  featureGates: {InstanceIdNodeName: false}\n", "  featureGates: {InstanceIdNodeName: false, FastImagePull: true}\n"},
		{"environment key by key", "  instance: {environment: {default: {A: '1', B: '2'}}}\n", "  instance: {environment: {default: {B: '3'}, kubelet: {C: '4'}}}\n", "  instance: {environment: {default: {A: '1', B: '3'}, kubelet: {C: '4'}}}\n"},
		{"an empty variable overrides", "  instance: {environment: {default: {A: '1'}}}\n", "  instance: {environment: {default: {A: ''}}}\n", "  instance: {environment: {default: {A: ''}}}\n"},
		{"lists replace", "  instance: {network: {nameservers: [a, b]}}\n", "  instance: {network: {nameservers: [c]}}\n", "  instance: {network: {nameservers: [c]}}\n"},
		{"flags append", "  kubelet: {flags: [--a=1]}\n", "  kubelet: {flags: [--a=2]}\n", "  kubelet: {flags: [--a=1, --a=2]}\n"},
		{"config in depth", "  kubelet: {config: {a: {x: 1, w: 2}, l: [1, 2], z: 5}}\n", "  kubelet: {config: {a: {w: 0}, l: [3], z: false}}\n", "  kubelet: {config: {a: {x: 1, w: 0}, l: [3], z: false}}\n"},
		{"containerd's TOML", "  containerd: {config: \"a = 1\\n[t]\\nb = 1\\nc = 2\\n\"}\n", "  containerd: {config: \"[t]\\nc = 3\\n\"}\n", "  containerd: {config: \"a = 1\\n\\n[t]\\nb = 1\\nc = 3\\n\"}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var configs []NodeConfig
			for _, text := range []string{tt.a, tt.b, tt.want} {
				n, err := DecodeNodeConfig([]byte(nodeSpec(text)), true)
				if err != nil {
					t.Fatal(err)
				}
				configs = append(configs, n)
			}
			got, err := MergeNodeConfigs(configs[:2]...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(configs[2].Encode()), string(got.Encode())); diff != "" {
				t.Errorf("merged (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := MergeNodeConfigs(); err == nil {
		t.Error("nothing merges to something")
	}
}
