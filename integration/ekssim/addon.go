package ekssim

// Addon is an EKS add-on of the cluster.
type Addon struct {
	Name, Version string
	// Schema is the file in testdata with the schema of this version.
	Schema string
	// Values are the configuration values.
	Values string
	Role   string
	Tags   map[string]string
}

// VPCCNI is the add-on with a place for variables, LegacyVPCCNI one without.
func VPCCNI(values string) Addon {
	return Addon{Name: "vpc-cni", Version: "v1.21.1-eksbuild.1", Schema: "vpc-cni-v1.21.json", Values: values, Role: "arn:aws:iam::123456789012:role/vpc-cni"}
}

// LegacyVPCCNI has no place for variables.
func LegacyVPCCNI() Addon {
	return Addon{Name: "vpc-cni", Version: "v1.15.0-eksbuild.1", Schema: "vpc-cni-v1.15.json"}
}

// KubeProxy has a closed schema.
func KubeProxy() Addon {
	return Addon{Name: "kube-proxy", Version: "v1.36.0-eksbuild.2", Schema: "kube-proxy-v1.36.json"}
}

// EBS has an object proxy and lists of variables.
func EBS() Addon {
	return Addon{Name: "aws-ebs-csi-driver", Version: "v1.53.0-eksbuild.1", Schema: "aws-ebs-csi-driver-v1.53.json", Values: "# ours\ncontroller:\n  replicaCount: 2 # two zones\n"}
}

// LegacyEBS has an object proxy alone.
func LegacyEBS() Addon {
	return Addon{Name: "aws-ebs-csi-driver", Version: "v1.20.0-eksbuild.1", Schema: "aws-ebs-csi-driver-v1.20.json"}
}

// PodIdentity has a schema of a shape of its own.
func PodIdentity() Addon {
	return Addon{Name: "eks-pod-identity-agent", Version: "v9.0.0-eksbuild.1", Schema: "eks-pod-identity-agent-v9.json"}
}
