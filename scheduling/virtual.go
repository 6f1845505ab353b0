package scheduling

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// VirtualPodAnnotation marks, with the value "true", a virtual pod: a pod of a CapacityBuffer, which exists in plans alone.
// It keeps room free until a real pod takes its place. The annotation is Karpenter's.
const VirtualPodAnnotation = "karpenter.sh/capacity-buffer-fake-pod"

// IsVirtual reports whether a pod is virtual ([VirtualPodAnnotation]). nil is not.
func IsVirtual(pod *corev1.Pod) bool {
	return pod != nil && pod.Annotations[VirtualPodAnnotation] == "true"
}

// RoomKept is the room that the virtual pods of a plan keep free.
type RoomKept struct {
	// Pods is the number of virtual pods. Existing of them have room on existing nodes, Launched on launches. The others have
	// room nowhere: they are in [Plan.Unschedulable], with the reasons and the changes that would give them room.
	Pods     int `json:"pods"`
	Existing int `json:"existing"`
	Launched int `json:"launched"`
	// Requests are the sum of the requests of the virtual pods that have room, by resource.
	Requests corev1.ResourceList `json:"requests"`
	// PricePerHour is by how much the expected price of the launches ([Policy.ExpectedPrice]) exceeds that of a plan without
	// virtual pods, in USD per hour; 0 where such a plan is no cheaper. It is nil with [Policy.NoReasons], and where a deadline has
	// passed.
	PricePerHour *offerings.Price `json:"pricePerHour,omitempty"`
	// Without is the plan without virtual pods, which proves PricePerHour. It has no lower bound, no reasons and no warnings, and is
	// nil where PricePerHour is nil and where nothing is launched.
	Without *Plan `json:"without,omitempty"`
}
