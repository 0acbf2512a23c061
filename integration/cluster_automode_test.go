package integration

import (
	"fmt"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/controlplane"
)

// Auto Mode is recognised by its NodeClass where no aws-node runs, and beside
// one by the label of a node. Another zone, and no kube-proxy, are told as well.
func TestClusterFactsOfAutoMode(t *testing.T) {
	cp := controlplane.Start(t, controlplane.Options{NoControllers: true, ServiceCIDR: "172.20.0.0/16"})
	cp.Create(t, `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: nodeclasses.eks.amazonaws.com}
spec:
  group: eks.amazonaws.com
  scope: Cluster
  names: {plural: nodeclasses, singular: nodeclass, kind: NodeClass, listKind: NodeClassList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: coredns, namespace: kube-system}
data:
  Corefile: |
    # the cluster's own
    k8s.corp.example:53 {
        kubernetes {
            pods insecure
        }
    }
`)
	var f clusterFacts
	cp.Eventually(t, 20*time.Second, "Auto Mode", func() error {
		if f = readCluster(t, kubeFacts(t, cp.Kubeconfig())); !f.AutoMode {
			return fmt.Errorf("not recognised: %+v", f.Gaps)
		}
		return nil
	})
	if f.ClusterDomain != "k8s.corp.example" || f.ServiceAddress != "172.20.0.1" || f.EndpointHost != "127.0.0.1" {
		t.Errorf("domain %q, service address %q, endpoint %q", f.ClusterDomain, f.ServiceAddress, f.EndpointHost)
	}
	controlplane.InstallEKS(t, cp, controlplane.EKS{Only: []string{"aws-node"}})
	if f = readCluster(t, kubeFacts(t, cp.Kubeconfig())); f.AutoMode {
		t.Error("a NodeClass beside aws-node counts as Auto Mode without any such node")
	}
	cp.Create(t, `apiVersion: v1
kind: Node
metadata:
  name: i-1
  labels: {eks.amazonaws.com/compute-type: auto, topology.kubernetes.io/region: ap-south-1}
`)
	if f = readCluster(t, kubeFacts(t, cp.Kubeconfig())); !f.AutoMode || f.Region != "ap-south-1" {
		t.Errorf("Auto Mode %v in %q beside aws-node", f.AutoMode, f.Region)
	}
}
