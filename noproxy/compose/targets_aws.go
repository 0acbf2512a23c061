package compose

import "github.com/eksproxy/eksproxy/noproxy"

// aws are the names of the services that nodes and pods of EKS call. None is in
// a composed list: whether one is reachable past the proxy depends on the VPC's
// endpoints.
func (t *targetList) aws(region string) {
	classic, dualStack := noproxy.AWSDomains(region)
	t.add("the EKS API", "https://eks."+region+"."+classic+"/", false)
	t.add("the EKS API, dual-stack", "https://eks."+region+"."+dualStack+"/", false)
	t.add("the EKS API, FIPS", "https://fips.eks."+region+"."+classic+"/", false)
	t.add("EKS Auth", "https://eks-auth."+region+"."+dualStack+"/", false)
	t.add("the ECR API", "https://api.ecr."+region+"."+classic+"/", false)
	t.add("the ECR API, dual-stack", "https://ecr."+region+"."+dualStack+"/", false)
	t.add("an ECR registry", "https://123456789012.dkr.ecr."+region+"."+classic+"/v2/", false)
	t.add("layers of ECR", "https://prod-"+region+"-starport-layer-bucket.s3."+region+"."+classic+"/layer", false)
	t.add("S3 by path", "https://s3."+region+"."+classic+"/bucket/key", false)
	t.add("S3 by bucket", "https://bucket.s3."+region+"."+classic+"/key", false)
	t.add("S3, dual-stack", "https://al2023-repos-"+region+"-de612dc2.s3.dualstack."+region+"."+classic+"/", false)
	for _, service := range []string{
		"ec2", "sts", "elasticloadbalancing", "autoscaling", "logs", "monitoring", "ssm", "ssmmessages", "ec2messages",
		"kms", "sqs", "secretsmanager", "xray", "elasticfilesystem", "fsx", "events", "rolesanywhere",
	} {
		t.add(service, "https://"+service+"."+region+"."+classic+"/", false)
	}
	t.add("an endpoint by its own name", "https://vpce-0example.ec2."+region+".vpce."+classic+"/", false)
	t.add("STS, global", "https://sts."+classic+"/", false)
	t.add("IAM", "https://iam."+classic+"/", false)
	t.add("Route 53", "https://route53."+classic+"/", false)
}
