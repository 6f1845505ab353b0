package manifest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest/internal/former"
)

// karpenterV1beta1 is the former API version of NodePools.
const karpenterV1beta1 = karpenterGroup + "/v1beta1"

// readNodePool reads a NodePool. Other than for most kinds, a field that is probably a typo is a fault,
// because it would change which nodes are bought; and unknown fields of pools that the API server
// has accepted are warned of, because a newer Karpenter follows them.
func readNodePool(c *collector, o rawObject) {
	d := decodeNodePool(o)
	var ignored []string
	for _, field := range d.unknown {
		if d.pool.UID != "" || suggestedField(d.written, field) == "" {
			ignored = append(ignored, field)
			continue
		}
		d.faults = append(d.faults, unknownFault(d.written, "", field))
	}
	if len(d.faults) > 0 {
		c.found.refuse(o, refOf(o), d.faults)
		return
	}
	for _, field := range ignored {
		c.unread.noteField(o.kind, d.written, field)
	}
	if !c.admit(o, d.pool, false) {
		return
	}
	c.found.warnings = append(c.found.warnings, d.warnings...)
	faults := poolKubelet(c.found, o, d.pool)
	if d.pool.UID == "" {
		faults = append(faults, validate(&scheduling.Problem{NodePools: []*scheduling.NodePool{d.pool}}, "")...)
	}
	if len(faults) > 0 {
		c.found.refuse(o, refOf(o), faults)
		return
	}
	c.objects.problem.NodePools = append(c.objects.problem.NodePools, d.pool)
}

// decodedPool is a NodePool with everything that decoding it has found.
type decodedPool struct {
	pool     *scheduling.NodePool // in the form of karpenter.sh/v1
	written  metav1.Object        // in the form of its own API version
	faults   []fieldFault
	unknown  []string // paths of fields
	warnings []scheduling.Warning
}

// decodeNodePool decodes a NodePool of either version.
func decodeNodePool(o rawObject) *decodedPool {
	d := &decodedPool{pool: &scheduling.NodePool{}}
	d.written = d.pool
	beta := &former.NodePool{}
	if o.apiVersion == karpenterV1beta1 {
		d.written = beta
	}
	told := func(message string, note bool) {
		d.warnings = append(d.warnings, scheduling.Warning{Object: warned(o.kind, d.written), Message: message, Note: note})
	}
	rules := strict.Rules{Check: func(field, _ string, value, written any) string {
		if _, ok := value.(*scheduling.NillableDuration); ok {
			if seconds, ok := written.(json.Number); ok {
				told(fmt.Sprintf("%s: %s has no unit and was read as seconds", field, seconds), true)
			}
		}
		return ""
	}}
	d.faults, d.unknown, _ = decode(o.json, d.written, "", rules)
	d.written.SetNamespace("") // pools have none
	if o.apiVersion == karpenterV1beta1 {
		d.pool = beta.Converted()
	}
	var rest struct {
		Spec   json.RawMessage `json:"spec"`
		Status json.RawMessage `json:"status"`
	}
	if err := json.Unmarshal(o.json, &rest); err == nil && absent(rest.Spec) {
		d.faults = append(d.faults, fieldFault{field: "spec", msg: "is missing"})
	}
	if reason, ok := notReady(rest.Status); ok {
		told(fmt.Sprintf("status.conditions: the NodePool is not ready (%s), but is planned with", reason), false)
	}
	return d
}

// absent reports whether a field is not in its object, or null.
func absent(field json.RawMessage) bool { return len(field) == 0 || string(field) == "null" }

// notReady reports whether the status of a NodePool says that Karpenter would not use the pool at
// present, and why. A status that cannot be read says nothing.
func notReady(status json.RawMessage) (reason string, ok bool) {
	var s struct {
		Conditions []metav1.Condition `json:"conditions"`
	}
	if json.Unmarshal(status, &s) != nil {
		return "", false
	}
	for _, condition := range s.Conditions {
		if condition.Type == "Ready" && condition.Status == metav1.ConditionFalse {
			return condition.Reason, true
		}
	}
	return "", false
}

// poolKubelet returns the faults of the kubelet settings of a NodePool, and warns of settings that
// are not read.
func poolKubelet(found *findings, o rawObject, pool *scheduling.NodePool) []fieldFault {
	raw, ok := pool.Annotations[scheduling.KubeletAnnotation]
	if !ok {
		return nil
	}
	at := strict.Member("metadata.annotations", scheduling.KubeletAnnotation)
	if strings.HasSuffix(o.apiVersion, "/v1beta1") {
		at = "spec.template.spec.kubelet"
	}
	kubelet := &instancetypes.Kubelet{}
	faults, unknown, _ := decode([]byte(raw), kubelet, at, strict.Rules{})
	if len(faults) == 0 {
		faults = faultsOf(kubelet.Validate(), at)
	}
	if len(faults) > 0 {
		return faults
	}
	for _, field := range unknown {
		if field = strict.Below(at, field); !slices.Contains(kubeletUnread(at), field) {
			found.warn("NodePool/"+pool.Name, field+" is not known and was ignored")
		}
	}
	for _, field := range kubelet.Expressions() {
		found.warn("NodePool/"+pool.Name, strict.Below(at, field)+" is an expression, which is not evaluated: the default is assumed")
	}
	return nil
}

// kubeletOf returns the kubelet settings of a NodePool of v1beta1; nil where there are
// none.
func kubeletOf(pool *scheduling.NodePool) (*instancetypes.Kubelet, error) {
	raw, ok := pool.Annotations[scheduling.KubeletAnnotation]
	if !ok {
		return nil, nil
	}
	k := &instancetypes.Kubelet{}
	return k, json.Unmarshal([]byte(raw), k)
}
