package rollout

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/eksproxy/eksproxy/internal/kube"
)

const awsNode = `{"kind":"DaemonSet","metadata":{"name":"aws-node"},"spec":{"template":{"spec":{
	"hostNetwork":true,
	"initContainers":[{"name":"aws-vpc-cni-init","image":"init:1"}],
	"containers":[{"name":"aws-node","image":"cni:1","env":[{"name":"HTTPS_PROXY","value":"http://u:p@proxy"}]},{"name":"aws-eks-nodeagent","image":"agent:1"}]}}}}`

func TestProbeImage(t *testing.T) {
	for name, c := range map[string]struct {
		given, container, want string
		fails                  bool
	}{
		"own":          {container: "aws-node", want: "cni:1"},
		"of init":      {container: "aws-vpc-cni-init", want: "init:1"},
		"given":        {given: "tools:1", container: "aws-node", want: "tools:1"},
		"no container": {container: "other", fails: true},
	} {
		o := &run{Roller: Roller{Options: Options{Probe: Probe{Image: c.given}}}}
		got, err := o.probeImage(object(t, awsNode), c.container)
		if got != c.want || (err != nil) != c.fails {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestProbePod names what a proof depends on: that the pod goes to the node, has
// a network of its own, and nothing of the workload's environment.
func TestProbePod(t *testing.T) {
	o := &run{Roller: Roller{Options: Options{StallLimit: DefaultStallLimit}}}
	ref := kube.Ref{Kind: kube.Pod(), Namespace: "kube-system", Name: "eksproxy-probe-aws-node"}
	pod := o.probePod(ref, "node-1", "cni:1")
	c := pod.Spec.Containers[0]
	if pod.Spec.NodeName != "node-1" || pod.Spec.HostNetwork || c.Image != "cni:1" || len(c.Env)+len(c.EnvFrom) > 0 || *pod.Spec.ActiveDeadlineSeconds <= int64(DefaultStallLimit.Seconds()) {
		t.Errorf("%+v", pod.Spec)
	}
	if diff := cmp.Diff([]corev1.Toleration{{Operator: corev1.TolerationOpExists}}, pod.Spec.Tolerations); diff != "" {
		t.Error(diff)
	}
	o.Probe.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	if diff := cmp.Diff(o.Probe.Tolerations, o.probePod(ref, "node-1", "cni:1").Spec.Tolerations); diff != "" {
		t.Error(diff)
	}
}
