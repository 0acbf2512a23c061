package secretref

import (
	"errors"
	"testing"
)

// The endpoint follows from the ARN, the facts, the metadata and the variables.
func TestEndpoint(t *testing.T) {
	const (
		china = "arn:aws-cn:secretsmanager:cn-north-1:1:secret:x"
		gov   = "arn:aws-us-gov:ssm:us-gov-west-1:1:parameter/x"
	)
	for name, c := range map[string]struct {
		ref  string
		o    Options
		env  map[string]string
		want string
	}{
		"ARN":             {"secretsmanager:" + secretARN, Options{Region: "us-east-1"}, nil, "https://secretsmanager.eu-west-1.amazonaws.com/"},
		"ARN of China":    {"secretsmanager:" + china, Options{}, nil, "https://secretsmanager.cn-north-1.amazonaws.com.cn/"},
		"ARN of GovCloud": {"ssm:" + gov, Options{}, nil, "https://ssm.us-gov-west-1.amazonaws.com/"},
		"facts":           {"ssm:x", Options{Region: "cn-north-1", DNSSuffix: "amazonaws.com.cn"}, nil, "https://ssm.cn-north-1.amazonaws.com.cn/"},
		"metadata":        {"ssm:x", Options{}, nil, "https://ssm.eu-west-1.amazonaws.com/"},
		"own variable":    {"ssm:x", Options{}, map[string]string{"AWS_ENDPOINT_URL_SSM": "http://a:1/p/", "AWS_ENDPOINT_URL": "http://b", "AWS_ENDPOINT_URL_SECRETS_MANAGER": "http://c"}, "http://a:1/p/"},
		"other variable":  {"secretsmanager:x", Options{}, map[string]string{"AWS_ENDPOINT_URL_SSM": "http://a", "AWS_ENDPOINT_URL": "https://b"}, "https://b/"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := parse(c.ref)
			if err != nil {
				t.Fatal(err)
			}
			c.o.IMDSEndpoint, c.o.Getenv = newFake(t).URL, getenv(c.env)
			x, err := newFetcher(r, c.o, quick())
			if err != nil {
				t.Fatal(err)
			}
			if wrong := x.locate(t.Context()); wrong != nil || x.endpoint != c.want {
				t.Errorf("got %s, %v, want %s", x.endpoint, wrong, c.want)
			}
		})
	}
}

// What the options hold is refused where it is no such thing.
func TestOptionsRefused(t *testing.T) {
	for name, o := range map[string]Options{
		"region":       {Region: "eu-west-1.evil.example/"},
		"suffix":       {DNSSuffix: "evil.example/x"},
		"metadata":     {IMDSEndpoint: "http://u:" + password + "@x"},
		"URL":          {Getenv: getenv(map[string]string{"AWS_ENDPOINT_URL": "ftp://x"})},
		"user in URL":  {Getenv: getenv(map[string]string{"AWS_ENDPOINT_URL": "http://u:" + password + "@x"})},
		"query in URL": {Getenv: getenv(map[string]string{"AWS_ENDPOINT_URL": "http://x?y"})},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Fetch(t.Context(), "ssm:x", o)
			checkWords(t, err)
			if _, ok := errors.AsType[*Error](err); ok {
				t.Errorf("%v is an error of a service", err)
			}
		})
	}
}
