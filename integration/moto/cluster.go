package moto

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// VPC makes a VPC with these blocks, the first being its own, and an IPv6 block
// where one is asked for. It returns its id, and that of a subnet in it.
func (s Server) VPC(t *testing.T, ipv6 bool, blocks ...string) (vpc, subnet string) {
	t.Helper()
	vpc = s.ec2(t, "vpcId", "CreateVpc", "CidrBlock", blocks[0])
	for _, b := range blocks[1:] {
		s.ec2(t, "vpcId", "AssociateVpcCidrBlock", "VpcId", vpc, "CidrBlock", b)
	}
	if ipv6 {
		s.ec2(t, "vpcId", "AssociateVpcCidrBlock", "VpcId", vpc, "AmazonProvidedIpv6CidrBlock", "true")
	}
	prefix, _, _ := strings.Cut(blocks[0], "/")
	return vpc, s.ec2(t, "subnetId", "CreateSubnet", "VpcId", vpc, "CidrBlock", prefix+"/24")
}

// VPCEndpoint makes an endpoint for a service of the region, and returns its id.
func (s Server) VPCEndpoint(t *testing.T, vpc, kind, service string) string {
	t.Helper()
	return s.ec2(t, "vpcEndpointId", "CreateVpcEndpoint", "VpcId", vpc, "VpcEndpointType", kind,
		"ServiceName", "com.amazonaws."+Region+"."+service, "PrivateDnsEnabled", "true")
}

// DHCPDomain gives a VPC this domain.
func (s Server) DHCPDomain(t *testing.T, vpc, domain string) {
	t.Helper()
	id := s.ec2(t, "dhcpOptionsId", "CreateDhcpOptions", "DhcpConfiguration.1.Key", "domain-name", "DhcpConfiguration.1.Value.1", domain)
	s.ec2(t, "", "AssociateDhcpOptions", "VpcId", vpc, "DhcpOptionsId", id)
}

// Cluster makes an EKS cluster with this service range, and returns the URL of
// its endpoint. EKS finds the VPC by the subnet; moto must be told.
func (s Server) Cluster(t *testing.T, name, vpc, subnet, services string) string {
	t.Helper()
	out := s.eks(t, "/clusters", map[string]any{
		"name": name, "version": "1.35", "roleArn": "arn:aws:iam::123456789012:role/eks",
		"resourcesVpcConfig":      map[string]any{"subnetIds": []string{subnet}, "vpcId": vpc},
		"kubernetesNetworkConfig": map[string]any{"serviceIpv4Cidr": services},
	})
	c, _ := out["cluster"].(map[string]any)
	endpoint, _ := c["endpoint"].(string)
	return endpoint
}

// FargateProfile makes a profile for a namespace.
func (s Server) FargateProfile(t *testing.T, cluster, name, namespace string) {
	t.Helper()
	s.eks(t, "/clusters/"+cluster+"/fargate-profiles", map[string]any{
		"fargateProfileName": name, "podExecutionRoleArn": "arn:aws:iam::123456789012:role/pods",
		"selectors": []any{map[string]any{"namespace": namespace}},
	})
}

// ec2 makes a call of EC2 and returns the text of an element of the answer.
func (s Server) ec2(t *testing.T, element, action string, pairs ...string) string {
	t.Helper()
	form := url.Values{"Action": {action}, "Version": {"2016-11-15"}}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	body := s.post(t, "ec2", "/", "application/x-www-form-urlencoded", []byte(form.Encode()))
	for dec := xml.NewDecoder(bytes.NewReader(body)); element != ""; {
		token, err := dec.Token()
		if err != nil {
			t.Fatalf("%s: no %s in %s", action, element, body)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == element {
			var text string
			if err := dec.DecodeElement(&text, &start); err != nil {
				t.Fatal(err)
			}
			return text
		}
	}
	return ""
}

func (s Server) eks(t *testing.T, path string, in map[string]any) map[string]any {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	answer := s.post(t, "eks", path, "application/json", body)
	if err := json.Unmarshal(answer, &out); err != nil {
		t.Fatalf("%s: %v\n%s", path, err, answer)
	}
	return out
}

func (s Server) post(t *testing.T, service, path, kind string, body []byte) []byte {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, s.URL+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20260101/"+Region+"/"+service+"/aws4_request, SignedHeaders=host, Signature=none")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode/100 != 2 {
		t.Fatalf("%s of moto: %d %v\n%s", path, resp.StatusCode, err, data)
	}
	return data
}
