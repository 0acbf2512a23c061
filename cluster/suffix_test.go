package cluster

import "testing"

// The domains are those that the SDK would call, in each partition (BL-017).
func TestSuffixes(t *testing.T) {
	for region, want := range map[string][2]string{
		"eu-west-1":       {"amazonaws.com", "api.aws"},
		"us-gov-west-1":   {"amazonaws.com", "api.aws"},
		"cn-north-1":      {"amazonaws.com.cn", "api.amazonwebservices.com.cn"},
		"eusc-de-east-1":  {"amazonaws.eu", "api.amazonwebservices.eu"},
		"us-iso-east-1":   {"c2s.ic.gov", "api.aws.ic.gov"},
		"us-isob-east-1":  {"sc2s.sgov.gov", "api.aws.scloud"},
		"eu-isoe-west-1":  {"cloud.adc-e.uk", "api.cloud-aws.adc-e.uk"},
		"us-isof-south-1": {"csp.hci.ic.gov", "api.aws.hci.ic.gov"},
	} {
		classic, dualStack, ok := Suffixes(region)
		if !ok || classic != want[0] || dualStack != want[1] {
			t.Errorf("%s: %s, %s, %v; want %s", region, classic, dualStack, ok, want)
		}
	}
	for _, text := range []string{"", "mars", "EU-WEST-1", "eu-west", "eu-west-1.evil.example", "eu-west-1\n", "eu--1", "e-west-1"} {
		if classic, dualStack, ok := Suffixes(text); ok || classic != "" || dualStack != "" {
			t.Errorf("%q is a region with %s, %s", text, classic, dualStack)
		}
	}
}

func TestRegionOf(t *testing.T) {
	for host, want := range map[string]string{
		"ID.gr7.eu-west-1.eks.amazonaws.com":           "eu-west-1",
		"ID.yl4.cn-north-1.eks.amazonaws.com.cn":       "cn-north-1",
		"ID.gr7.us-gov-west-1.eks.amazonaws.com":       "us-gov-west-1",
		"ID.gr7.eks-cluster.us-west-2.api.aws":         "us-west-2",
		"ID.sk1.us-iso-east-1.eks.c2s.ic.gov":          "us-iso-east-1",
		"ID.gr7.cn-north-1.eks.amazonaws.com":          "", // China has another domain
		"ID.gr7.eu-west-1.eks.amazonaws.com.evil.test": "",
		"eu-west-1.eks.amazonaws.com":                  "",
		"ec2.eu-west-1.amazonaws.com":                  "",
		"api.eu-west-1.corp.example":                   "",
		"10.0.0.1":                                     "",
		"":                                             "",
	} {
		if got := regionOf(host); got != want {
			t.Errorf("%s: region %q, want %q", host, got, want)
		}
	}
}

func TestServiceOf(t *testing.T) {
	for region, names := range map[string]map[string]string{
		"eu-west-1": {
			"com.amazonaws.eu-west-1.ecr.api":         "ecr.api",
			"com.amazonaws.eu-west-1.s3":              "s3",
			"com.amazonaws.us-east-1.s3":              "com.amazonaws.us-east-1.s3", // of another region
			"com.amazonaws.vpce.eu-west-1.vpce-svc-1": "com.amazonaws.vpce.eu-west-1.vpce-svc-1",
			"aws.sagemaker.eu-west-1.notebook":        "aws.sagemaker.eu-west-1.notebook",
			"com.amazonaws.s3-global.accesspoint":     "com.amazonaws.s3-global.accesspoint",
			"":                                        "",
		},
		"cn-north-1":     {"cn.com.amazonaws.cn-north-1.ecr.dkr": "ecr.dkr", "com.amazonaws.cn-north-1.s3": "s3"},
		"eusc-de-east-1": {"eu.amazonaws.eusc-de-east-1.ec2": "ec2"},
	} {
		r := &reader{}
		r.facts.Region = region
		for name, want := range names {
			if got := r.serviceOf(name); got != want {
				t.Errorf("%s: %s is %q, want %q", region, name, got, want)
			}
		}
	}
}
