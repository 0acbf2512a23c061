package controlplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"testing"
	"time"
)

// Node is a simulated node. It looks like one of a managed node group.
type Node struct {
	Name string
	// Labels are added to those of the node group, or change them.
	Labels map[string]string
	// Taints keep pods away that do not tolerate them.
	Taints []Taint
}

// Taint is a taint of a node.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// nodesLimit is how long nodes may take to be ready: 500 take about 15 s.
const nodesLimit = 60 * time.Second

// object is the node as the API wants it. The kubelet adds the labels of
// kubernetes.io on a real one.
func (n Node) object(index int) map[string]any {
	zone := fmt.Sprintf("eu-west-1%c", 'a'+index%3)
	labels := map[string]string{
		"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": n.Name,
		"node.kubernetes.io/instance-type": "m7i.4xlarge", "eks.amazonaws.com/nodegroup": "workers",
		"eks.amazonaws.com/capacityType": "ON_DEMAND",
		"topology.kubernetes.io/region":  "eu-west-1", "topology.kubernetes.io/zone": zone,
	}
	maps.Copy(labels, n.Labels)
	return map[string]any{
		"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{"name": n.Name, "labels": labels},
		"spec": map[string]any{
			"providerID": fmt.Sprintf("aws:///%s/i-%017x", zone, index+1),
			"taints":     n.Taints,
		},
		"status": n.status(index),
	}
}

// status is what the kubelet says of itself when it registers.
func (n Node) status(index int) map[string]any {
	size := map[string]string{"cpu": "16", "memory": "64Gi", "pods": "110", "ephemeral-storage": "100Gi"}
	return map[string]any{
		"capacity": size, "allocatable": size,
		"addresses": []map[string]string{
			{"type": "InternalIP", "address": fmt.Sprintf("10.0.%d.%d", index/250, index%250+4)},
			{"type": "InternalDNS", "address": n.Name}, {"type": "Hostname", "address": n.Name},
		},
		"nodeInfo": map[string]string{
			"kubeletVersion": "v1.37.2-eks-0000000", "osImage": "Amazon Linux 2023", "operatingSystem": "linux",
			"architecture": "amd64", "containerRuntimeVersion": "containerd://2.1.5", "kernelVersion": "6.12.0",
			"machineID": "", "systemUUID": "", "bootID": "", "kubeProxyVersion": "",
		},
	}
}

// AddNodes adds nodes and waits until they are ready.
func (c *ControlPlane) AddNodes(tb testing.TB, nodes ...Node) {
	tb.Helper()
	for i, n := range nodes {
		if err := c.addNode(tb.Context(), n, 1000+i); err != nil {
			tb.Fatal(err)
		}
	}
	if err := c.awaitNodes(tb.Context()); err != nil {
		tb.Fatal(err)
	}
}

// addNodes adds the nodes of the start. Their names are as EC2 gives them.
func (c *ControlPlane) addNodes(ctx context.Context, count int) error {
	for i := range count {
		if err := c.addNode(ctx, Node{Name: NodeName(i)}, i); err != nil {
			return err
		}
	}
	return c.awaitNodes(ctx)
}

// NodeName is the name of the nth node of the start, counted from 0.
func NodeName(n int) string {
	return fmt.Sprintf("ip-10-0-%d-%d.eu-west-1.compute.internal", n/250, n%250+4)
}

// addNode creates one node.
func (c *ControlPlane) addNode(ctx context.Context, n Node, index int) error {
	body, err := json.Marshal(n.object(index))
	if err != nil {
		return fmt.Errorf("encoding the node %s: %w", n.Name, err)
	}
	status, answer, err := c.client.call(ctx, http.MethodPost, "/api/v1/nodes", "application/json", body)
	if err == nil && status != http.StatusCreated {
		err = fmt.Errorf("status %d: %s", status, answer)
	}
	if err != nil {
		return fmt.Errorf("creating the node %s: %w", n.Name, err)
	}
	return nil
}

// awaitNodes waits until all nodes are ready, and no taint of a new node is
// left that would keep pods away.
func (c *ControlPlane) awaitNodes(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, nodesLimit)
	defer cancel()
	return c.poll(ctx, "the nodes", func() error {
		body, err := c.get(ctx, "/api/v1/nodes")
		if err != nil {
			return err
		}
		var list struct{ Items []nodeState }
		if err := json.Unmarshal(body, &list); err != nil {
			return fmt.Errorf("reading the nodes: %w", err)
		}
		for _, n := range list.Items {
			if err := n.ready(); err != nil {
				return err
			}
		}
		return nil
	})
}

// nodeState is what says whether a node is ready.
type nodeState struct {
	Metadata struct{ Name string }
	Spec     struct{ Taints []Taint }
	Status   struct {
		Conditions []struct{ Type, Status string }
	}
}

// ready says why the node is not ready.
func (n nodeState) ready() error {
	for _, taint := range n.Spec.Taints {
		if taint.Key == "node.kubernetes.io/not-ready" {
			return errors.New(n.Metadata.Name + " has the taint of a new node")
		}
	}
	for _, condition := range n.Status.Conditions {
		if condition.Type == "Ready" && condition.Status == "True" {
			return nil
		}
	}
	return errors.New(n.Metadata.Name + " is not ready")
}
