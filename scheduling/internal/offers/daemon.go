package offers

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Daemon is a DaemonSet as far as nodes are concerned: which it runs on and what it
// takes there.
type Daemon struct {
	Set        *appsv1.DaemonSet
	Constraint *podspec.Constraint
	Requests   []int64
}

// someHost stands for the host name of a machine that does not exist yet: there will
// be one, and nobody can name it.
const someHost = "\x00"

// Ready are labels that every node of a pool has by the time pods can run there.
func Ready() map[string]string {
	return map[string]string{scheduling.RegisteredLabel: "true", scheduling.InitializedLabel: "true", corev1.LabelHostname: someHost}
}
