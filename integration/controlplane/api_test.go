package controlplane

import (
	"strings"
	"testing"
)

func TestAPIServerAlone(t *testing.T) {
	cp := Start(t, Options{NoControllers: true, ServiceCIDR: "172.20.0.0/16"})
	cp.Create(t, `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}`)
	if got := cp.Kubectl(t, "get", "pod", "p", "-o", "jsonpath={.status.phase}"); got != "Pending" {
		t.Errorf("the pod is %q", got)
	}
	if got := cp.Kubectl(t, "get", "service", "kubernetes", "-o", "jsonpath={.spec.clusterIP}"); got != "172.20.0.1" {
		t.Errorf("the Service of the API is %q", got)
	}
	if got := cp.Kubectl(t, "version"); strings.Count(got, "v1.37.2") != 2 {
		t.Errorf("the versions are %s", got)
	}
}
