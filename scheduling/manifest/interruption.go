package manifest

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Kinds of notice.
const (
	kindSpot        = "spot"
	kindMaintenance = "maintenance"
	kindScaleIn     = "scale-in"
	kindTermination = "termination"
)

// spotNotice is how long before a spot machine goes Amazon EC2 says so.
const spotNotice = 2 * time.Minute

// noticeTaint returns the kind of notice that a taint stands for, "" for none.
func noticeTaint(key string) string {
	switch key {
	case "aws-node-termination-handler/spot-itn":
		return kindSpot
	case "aws-node-termination-handler/scheduled-maintenance":
		return kindMaintenance
	case "aws-node-termination-handler/asg-lifecycle-termination":
		return kindScaleIn
	case "cloud.google.com/impending-node-termination":
		return kindTermination
	case "remediator.kubernetes.azure.com/unschedulable", "remediator.aks.microsoft.com/unschedulable":
		return kindMaintenance
	}
	return ""
}

// noticeCondition returns the kind of notice that a condition of AKS stands for, "" for
// none. Events that a machine survives with its pods, freeze and reboot, are none.
func noticeCondition(c *corev1.NodeCondition) string {
	if c.Status != corev1.ConditionTrue {
		return ""
	}
	switch c.Type {
	case "PreemptionScheduled", "PreemptScheduled":
		return kindSpot
	case "TerminateScheduled":
		return kindTermination
	case "RedeployScheduled":
		return kindMaintenance
	case "VMEventScheduled":
		event, _, _ := strings.Cut(c.Message, " ")
		switch event {
		case "Preempt":
			return kindSpot
		case "Terminate":
			return kindTermination
		case "Redeploy":
			return kindMaintenance
		}
	}
	return ""
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

// announced reads the time in a message such as "Preempt Scheduled: Mon, 02 Mar 2026
// 19:01:45 GMT. EventId: 1"; zero where there is none.
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
	for i := range n.Spec.Taints {
		if n.Spec.Taints[i].Key == "node.cloudprovider.kubernetes.io/shutdown" {
			return true
		}
	}
	return false
}
