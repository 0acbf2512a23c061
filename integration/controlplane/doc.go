// Package controlplane runs a real Kubernetes control plane on 127.0.0.1:
// etcd, kube-apiserver, kube-controller-manager and kube-scheduler, built from
// Go modules, and KWOK for nodes and pods that exist in the API alone. It
// needs neither root nor a container runtime.
//
//	cp := controlplane.Start(t, controlplane.Options{Nodes: 3})
//	controlplane.InstallEKS(t, cp, controlplane.EKS{})
//	cp.SetRules(t, controlplane.Rule{When: `.metadata.labels["k8s-app"] == "aws-node"`, Outcome: controlplane.Unready})
//	faults := controlplane.NewFaults(t, cp)
//	faults.Add(controlplane.Fault{Match: controlplane.Match{Verb: "patch"}, From: 2, Answer: controlplane.Conflict()})
//
// It owns the processes, the users that a test may act as, what becomes of the
// simulated pods, the add-ons of a fresh EKS cluster, and a reverse proxy that
// makes the API server fail on demand. It must not know the program under test.
//
// KWOK proves rollouts, status and API load, never the data path: no container
// runs and no packet flows. The programs come from build.sh, which a test never
// runs by itself since a cold build outlasts any test's limit.
package controlplane
