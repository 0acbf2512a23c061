package cluster

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/eksproxy/eksproxy/facts"
)

// Nobody is asked: everything but the domain of the region is a gap.
func TestReadNobody(t *testing.T) {
	f, err := Read(t.Context(), Options{Region: "eu-west-1"})
	if err != nil || f.Region != "eu-west-1" || f.DNSSuffix != "amazonaws.com" || f.Kind != facts.ClusterKind {
		t.Fatalf("%+v, %v", f, err)
	}
	for _, field := range []string{facts.FieldVPCCIDRs, facts.FieldServiceCIDRs, facts.FieldEndpointHost, facts.FieldDaemonSets} {
		if gapOf(f, field).Remedy == "" {
			t.Errorf("no gap for %s", field)
		}
	}
	// An unknown region leaves out itself and the domain, no more.
	f, err = Read(t.Context(), Options{})
	if err != nil || gapOf(f, facts.FieldRegion).Remedy != "give --region" || gapOf(f, facts.FieldDNSSuffix).Why != "the region is unknown" {
		t.Errorf("%v, %v", f.Gaps, err)
	}
	f, err = Read(t.Context(), Options{Region: "mars"})
	if err != nil || f.DNSSuffix != "" || !strings.Contains(gapOf(f, facts.FieldDNSSuffix).Why, "no endpoints for mars") {
		t.Errorf("%v, %v", f.Gaps, err)
	}
}

func gapOf(f facts.Cluster, field string) facts.Gap {
	for _, g := range f.Gaps {
		if g.Field == field {
			return g
		}
	}
	return facts.Gap{}
}

// Two reasons stand in one gap; a flag is named once.
func TestGaps(t *testing.T) {
	r := &reader{facts: facts.NewCluster()}
	r.gap("a", "grant x", facts.FieldVPCCIDRs, facts.FieldAddons)
	r.gap("b", "grant y", facts.FieldVPCCIDRs)
	r.gap("b", "grant y", facts.FieldVPCCIDRs)
	if g := gapOf(r.facts, facts.FieldVPCCIDRs); g.Why != "a; b" || g.Remedy != "grant x or --vpc-cidr; grant y" {
		t.Errorf("%+v", g)
	}
	if g := gapOf(r.facts, facts.FieldAddons); g.Remedy != "grant x" {
		t.Errorf("%+v", g)
	}
	r.fill(facts.FieldVPCCIDRs, "EC2")
	if len(r.facts.Gaps) != 1 || r.facts.Sources[facts.FieldVPCCIDRs] != "EC2" {
		t.Errorf("%+v", r.facts)
	}
}

func TestKindsOfErrors(t *testing.T) {
	api := func(code string) error { return &smithy.GenericAPIError{Code: code, Message: "a\nb"} }
	for name, test := range map[string]struct {
		err  *Error
		want Kind
	}{
		"no answer":        {ofAWS("eks:X", errors.New("dial")), Unreachable},
		"throttled":        {ofAWS("eks:X", api("ThrottlingException")), Unreachable},
		"expired":          {ofAWS("eks:X", api("ExpiredTokenException")), NoCredentials},
		"bad keys":         {ofAWS("ec2:X", api("AuthFailure")), NoCredentials},
		"denied":           {ofAWS("ec2:X", api("UnauthorizedOperation")), Denied},
		"forbidden":        {ofKubernetes("x", "y", apierrors.NewForbidden(schema.GroupResource{}, "n", nil)), Denied},
		"unauthorized":     {ofKubernetes("x", "y", apierrors.NewUnauthorized("")), NoCredentials},
		"absent":           {ofKubernetes("x", "y", apierrors.NewNotFound(schema.GroupResource{}, "n")), NotFound},
		"busy":             {ofKubernetes("x", "y", apierrors.NewTooManyRequests("", 1)), Unreachable},
		"broken":           {ofKubernetes("x", "y", &apierrors.StatusError{ErrStatus: metav1.Status{Code: 500}}), Unreachable},
		"no answer of one": {ofKubernetes("x", "y", errors.New("dial")), Unreachable},
	} {
		if test.err.Kind != test.want || strings.Contains(test.err.Error(), "\n") {
			t.Errorf("%s: %s (%q), want %s", name, test.err.Kind, test.err, test.want)
		}
	}
	if ofAWS("eks:X", nil) != nil || ofKubernetes("x", "y", nil) != nil {
		t.Error("no error is an error")
	}
}

// noCredentials are credentials that there are none of.
type noCredentials struct{}

func (noCredentials) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{}, errors.New("none")
}

func TestReadWithoutCredentials(t *testing.T) {
	_, err := Read(t.Context(), Options{Name: "blue", Region: "eu-west-1", Credentials: noCredentials{}})
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Kind != NoCredentials || !strings.HasPrefix(err.Error(), "looking for AWS credentials: none; give --profile") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, Options{Name: "blue", Credentials: noCredentials{}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestAnother(t *testing.T) {
	f := facts.NewCluster()
	f.EndpointHost = "API.example"
	if Another(f, "https://other.example") {
		t.Error("EKS was not asked, so nothing is known of another cluster")
	}
	f.SetSource(facts.FieldEndpointHost, sourceEKS)
	if Another(f, "https://api.example:443") || !Another(f, "https://other.example") || !Another(f, "") {
		t.Error("hosts are compared without their case")
	}
}
