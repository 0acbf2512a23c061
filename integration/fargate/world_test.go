package fargate

import (
	"strings"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/integration/controlplane"
)

// onFargate lets pods of the tests onto nodes that look like Fargate's.
const onFargate = `tolerations: [{key: eks.amazonaws.com/compute-type, operator: Exists}], nodeSelector: {eks.amazonaws.com/compute-type: fargate}`

// template is a pod template for a name.
func template(name, spec string) string {
	return `{metadata: {labels: {app: ` + name + `, run: fargate}}, spec: {` + onFargate + `, ` + spec + `}}`
}

func one(name string) string {
	return `containers: [{name: ` + name + `, image: images.test/` + name + `:1}]`
}

// deployment is one with so many pods.
func deployment(namespace, name, replicas, meta string) string {
	return `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ` + name + `, namespace: ` + namespace + meta + `}
spec: {replicas: ` + replicas + `, selector: {matchLabels: {app: ` + name + `}}, template: ` + template(name, one(name)) + `}
---`
}

// everything is one of each sort in a namespace.
func everything(ns string) string {
	const containers = `initContainers: [{name: first, image: images.test/first:1}, {name: side, image: images.test/side:1, restartPolicy: Always}],
 containers: [{name: main, image: images.test/main:1, env: [{name: LOG, value: debug}]}, {name: own, image: images.test/own:1, env: [{name: NO_PROXY, value: mine}]}, {name: istio-proxy, image: images.test/istio:1}]`
	return strings.ReplaceAll(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: NS}
spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: `+template("web", containers)+`}
---`+deployment("NS", "asleep", "0", "")+deployment("NS", "argo", "1", `, annotations: {argocd.argoproj.io/tracking-id: "shop:apps/Deployment:NS/argo"}`)+`
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: NS}
spec: {replicas: 2, serviceName: db, selector: {matchLabels: {app: db}}, template: `+template("db", one("db"))+`}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: bare, namespace: NS, labels: {bare: "true"}}
spec: {replicas: 1, selector: {matchLabels: {app: bare}}, template: `+template("bare", one("bare"))+`}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: NS}
spec: {schedule: "0 3 29 2 *", jobTemplate: {spec: {template: {metadata: {labels: {app: nightly, run: fargate}}, spec: {restartPolicy: Never, `+one("nightly")+`}}}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: NS}
spec: {suspend: true, template: {spec: {restartPolicy: Never, `+one("migrate")+`}}}
---
apiVersion: v1
kind: Pod
metadata: {name: lonely, namespace: NS}
spec: {`+onFargate+`, `+one("lonely")+`}
`, "NS", ns)
}

// populate makes namespaces, and one of each sort in some of them.
func populate(t *testing.T, cp *controlplane.ControlPlane, full ...string) {
	t.Helper()
	cp.Create(t, `{apiVersion: v1, kind: Namespace, metadata: {name: team-a}}`)
	cp.Create(t, `{apiVersion: v1, kind: Namespace, metadata: {name: team-b, labels: {eksproxy.dev/inject: enabled}}}`)
	cp.Create(t, `{apiVersion: v1, kind: Namespace, metadata: {name: team-c}}`)
	cp.Create(t, `{apiVersion: v1, kind: Namespace, metadata: {name: other}}`)
	for _, ns := range []string{"team-a", "team-b", "team-c", "other"} {
		cp.Eventually(t, 30*time.Second, "the service account of "+ns, func() error {
			_, err := cp.TryKubectl(t, "-n", ns, "get", "serviceaccount", "default")
			return err
		})
	}
	for _, ns := range full {
		cp.Create(t, everything(ns))
	}
	for _, ns := range full {
		cp.Rollout(t, ns)
		cp.Kubectl(t, "-n", ns, "rollout", "status", "statefulset/db", "--timeout=60s")
	}
}
