// Package rollout takes the pods of a workload over to a changed pod template.
// Of a DaemonSet one pod goes first: the update strategy is held, one pod is
// replaced, a probe pod on its node shows that new pods work there, and only
// then the workload's own strategy takes the rest. It can undo that, and it
// finds again what a run that was killed left held.
//
// It knows what pods are, and must not know what their template is changed for.
package rollout
