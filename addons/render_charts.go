package addons

// Chart is a Helm chart of a component, and where its values take what.
type Chart struct {
	// Name is the chart's, as its Chart.yaml has it.
	Name string
	// Env is the path of the variables.
	Env string
	// Map says that Env takes names with texts; else it takes a list of items, as
	// a container does, which can refer to a ConfigMap.
	Map bool
	// Secrets is the path that takes names with a Secret and its key, where Env is
	// a map; empty where the chart has none.
	Secrets string
	// Annotations is the path of the pods' annotations.
	Annotations string
	// Volumes and Mounts are the paths for certificates; empty where the chart has
	// none.
	Volumes, Mounts string
}

// charts are the charts of components that take variables, by the component
// (docs/gitops.md says what they were read in).
func charts() map[string]Chart {
	return map[string]Chart{
		"aws-node":               {Name: "aws-vpc-cni", Env: "extraEnv", Annotations: "podAnnotations", Volumes: "extraVolumes", Mounts: "extraVolumeMounts"},
		"eks-pod-identity-agent": {Name: "eks-pod-identity-agent", Env: "env", Map: true, Annotations: "podAnnotations"},
		"ebs-csi-controller":     {Name: "aws-ebs-csi-driver", Env: "controller.env", Annotations: "controller.podAnnotations", Volumes: "controller.volumes", Mounts: "controller.volumeMounts"},
		"ebs-csi-node":           {Name: "aws-ebs-csi-driver", Env: "node.env", Annotations: "node.podAnnotations", Volumes: "node.volumes", Mounts: "node.volumeMounts"},
		"efs-csi-controller":     {Name: "aws-efs-csi-driver", Env: "controller.env", Annotations: "controller.podAnnotations", Volumes: "controller.volumes", Mounts: "controller.volumeMounts"},
		"efs-csi-node":           {Name: "aws-efs-csi-driver", Env: "node.env", Annotations: "node.podAnnotations", Volumes: "node.volumes", Mounts: "node.volumeMounts"},
		"karpenter":              {Name: "karpenter", Env: "controller.env", Annotations: "podAnnotations", Volumes: "extraVolumes", Mounts: "controller.extraVolumeMounts"},
		"cluster-autoscaler":     {Name: "cluster-autoscaler", Env: "extraEnv", Map: true, Secrets: "extraEnvSecrets", Annotations: "podAnnotations", Volumes: "extraVolumes", Mounts: "extraVolumeMounts"},
		"aws-load-balancer-controller": {
			Name: "aws-load-balancer-controller", Env: "env", Map: true, Annotations: "podAnnotations", Volumes: "extraVolumes", Mounts: "extraVolumeMounts",
		},
		"external-dns": {Name: "external-dns", Env: "env", Annotations: "podAnnotations", Volumes: "extraVolumes", Mounts: "extraVolumeMounts"},
		"cert-manager": {Name: "cert-manager", Env: "extraEnv", Annotations: "podAnnotations", Volumes: "volumes", Mounts: "volumeMounts"},
	}
}

// Chart is the chart of the component; false where it has none that takes
// variables.
func (c Component) Chart() (Chart, bool) {
	chart, ok := charts()[c.Name]
	return chart, ok
}
