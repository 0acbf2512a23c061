package rollout

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/eksproxy/eksproxy/internal/kube"
)

// probeUser is a user without a name: PodSecurity's level restricted wants the
// number of one that is not root.
const probeUser = 65532

// probePod is the pod that proves a node. It is bound to the node without the
// scheduler, which may hold cordoned or tainted nodes back, has none of the
// workload's environment and rights, and ends by itself where nobody deletes it.
func (o *run) probePod(ref kube.Ref, node, image string) *corev1.Pod {
	tolerations := o.Probe.Tolerations
	if len(tolerations) == 0 {
		tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	}
	deadline := int64(o.StallLimit.Seconds()) + 60 // our own wait ends first
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: ref.Name, Namespace: ref.Namespace,
			Labels:      map[string]string{"app.kubernetes.io/managed-by": "eksproxy"},
			Annotations: map[string]string{ProbeAnnotation: "true"},
		},
		Spec: corev1.PodSpec{
			NodeName:                      node,
			RestartPolicy:                 corev1.RestartPolicyNever,
			ActiveDeadlineSeconds:         &deadline,
			TerminationGracePeriodSeconds: new(int64(1)),
			AutomountServiceAccountToken:  new(false),
			EnableServiceLinks:            new(false), // the variables of Service kubernetes come without
			Tolerations:                   tolerations,
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: new(true), RunAsUser: new(int64(probeUser)), RunAsGroup: new(int64(probeUser)),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{probeContainer(image)},
		},
	}
}

func probeContainer(image string) corev1.Container {
	amounts := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	}
	return corev1.Container{
		Name: "probe", Image: image, ImagePullPolicy: corev1.PullIfNotPresent,
		Command:   []string{"/bin/sh", "-c", probeScript},
		Resources: corev1.ResourceRequirements{Requests: amounts("10m", "16Mi"), Limits: amounts("100m", "64Mi")},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
}
