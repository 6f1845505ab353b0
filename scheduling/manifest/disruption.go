package manifest

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Conditions of NodeClaims that planning disruption reads.
const (
	conditionInitialized = "Initialized"
	conditionDrifted     = "Drifted"
	conditionTerminating = "InstanceTerminating"
)

// clusterOf returns the input for planning disruption: see [Snapshot.Cluster].
func clusterOf(s *Snapshot) disruption.Cluster {
	machines := map[string]*disruption.Machine{}
	nodes := lo.KeyBy(lo.Compact(s.Problem.Nodes), func(n *corev1.Node) string { return n.Name })
	for _, claim := range lo.Compact(s.NodeClaims) {
		name := cmp.Or(s.hosts[claim.Name], claim.Status.NodeName, claim.Name)
		if nodes[name] == nil || machines[name] != nil {
			continue
		}
		m := machineOf(claim)
		m.Node = name
		machines[name] = &m
	}
	of := func(name string) *disruption.Machine {
		if machines[name] == nil {
			machines[name] = &disruption.Machine{Node: name}
		}
		return machines[name]
	}
	for _, n := range lo.Compact(s.Problem.Nodes) {
		if notice := interruption(n); notice != nil {
			of(n.Name).Interruption = notice
		}
		if shutDown(n) {
			of(n.Name).Terminating = true
		}
	}
	for _, pod := range lo.Compact(s.Problem.Pods) {
		if name := pod.Status.NominatedNodeName; nodes[name] != nil {
			of(name).NominatedUntil = endOfTime()
		}
	}
	cluster := disruption.Cluster{Problem: s.Problem, PodDisruptionBudgets: slices.Clone(s.PodDisruptionBudgets)}
	for _, name := range slices.Sorted(maps.Keys(machines)) {
		cluster.Machines = append(cluster.Machines, *machines[name])
	}
	return cluster
}

// endOfTime is the end of the wait of a pod that kube-scheduler has nominated to a node.
func endOfTime() time.Time { return time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC) }

// machineOf returns the machine of a claim.
func machineOf(claim *NodeClaim) disruption.Machine {
	m := disruption.Machine{
		Annotations:  maps.Clone(claim.Annotations),
		Created:      claim.CreationTimestamp.Time,
		LastPodEvent: claim.Status.LastPodEventTime.Time,
	}
	if d := claim.Spec.ExpireAfter; d != nil {
		m.ExpireAfter = &scheduling.NillableDuration{}
		if d.Duration != nil {
			copied := *d.Duration
			m.ExpireAfter.Duration = &copied
		}
	}
	if d := claim.Spec.TerminationGracePeriod; d != nil {
		m.TerminationGracePeriod = &metav1.Duration{Duration: d.Duration}
	}
	for i := range claim.Status.Conditions {
		c := &claim.Status.Conditions[i]
		if c.Status != metav1.ConditionTrue {
			continue
		}
		switch c.Type {
		case conditionInitialized:
			m.Initialized = c.LastTransitionTime.Time
		case conditionDrifted:
			m.Drift, m.DriftedAt = drift(c), c.LastTransitionTime.Time
		case conditionTerminating:
			m.Terminating = true
		}
	}
	return m
}

// drift puts reason and message of a condition into one text that is not empty.
func drift(c *metav1.Condition) string {
	reason, message := strings.TrimSpace(c.Reason), strings.TrimSpace(c.Message)
	switch {
	case message == "" || message == reason:
		return cmp.Or(reason, conditionDrifted)
	case reason == "" || reason == conditionDrifted:
		return message
	}
	return reason + ": " + message
}

// Kinds of notice.
const (
	kindSpot        = "spot"
	kindMaintenance = "maintenance"
	kindScaleIn     = "scale-in"
	kindTermination = "termination"
)

// spotNotice is the time between the notice of Amazon EC2 and the interruption of a spot machine.
const spotNotice = 2 * time.Minute

// noticeTaint returns the kind of notice that a taint stands for, "" for none.
func noticeTaint(key string) string {
	return map[string]string{
		"aws-node-termination-handler/spot-itn":                  kindSpot,
		"aws-node-termination-handler/scheduled-maintenance":     kindMaintenance,
		"aws-node-termination-handler/asg-lifecycle-termination": kindScaleIn,
		"cloud.google.com/impending-node-termination":            kindTermination,
		"remediator.kubernetes.azure.com/unschedulable":          kindMaintenance,
		"remediator.aks.microsoft.com/unschedulable":             kindMaintenance,
	}[key]
}

// noticeCondition returns the kind of notice that a condition of AKS stands for, "" for
// none. Events that a machine survives with its pods, freeze and reboot, are none.
func noticeCondition(c *corev1.NodeCondition) string {
	event := strings.TrimSuffix(string(c.Type), "Scheduled")
	if event == "VMEvent" {
		event, _, _ = strings.Cut(c.Message, " ")
	}
	if c.Status != corev1.ConditionTrue || event == string(c.Type) {
		return ""
	}
	return map[string]string{
		"Preemption": kindSpot, "Preempt": kindSpot, "Terminate": kindTermination, "Redeploy": kindMaintenance,
	}[event]
}

// interruption returns the notice on a node; of several, the one that comes first, and
// taints before conditions. A label says that GKE has begun to stop workloads.
func interruption(n *corev1.Node) *disruption.Interruption {
	var first *disruption.Interruption
	note := func(kind string, at time.Time) {
		if kind != "" && (first == nil || at.Before(first.At)) {
			first = &disruption.Interruption{At: at, Kind: kind}
		}
	}
	for i := range n.Spec.Taints {
		t := &n.Spec.Taints[i]
		kind, at := noticeTaint(t.Key), time.Time{}
		if kind == kindSpot && t.TimeAdded != nil {
			at = t.TimeAdded.Add(spotNotice)
		}
		note(kind, at)
	}
	if n.Labels["cloud.google.com/active-node-maintenance"] == "ONGOING" {
		note(kindMaintenance, time.Time{})
	}
	for i := range n.Status.Conditions {
		c := &n.Status.Conditions[i]
		note(noticeCondition(c), announced(c.Message))
	}
	return first
}

// announced reads the time in a message, e.g. "Preempt Scheduled: Mon, 02 Mar 2026 19:01:45 GMT.
// EventId: 1"; zero where there is none.
func announced(message string) time.Time {
	_, text, found := strings.Cut(message, ": ")
	if !found || len(text) < len(time.RFC1123) {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC1123, text[:len(time.RFC1123)])
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

// shutDown says whether the cloud's controller reports that the instance is shut down.
func shutDown(n *corev1.Node) bool {
	return lo.ContainsBy(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == "node.cloudprovider.kubernetes.io/shutdown" })
}
