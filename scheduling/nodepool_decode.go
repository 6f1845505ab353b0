package scheduling

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// The API versions of NodePools.
const (
	karpenterV1      = "karpenter.sh/v1"
	karpenterV1beta1 = "karpenter.sh/v1beta1"
)

// DecodeNodePool reads one NodePool from YAML or JSON, of karpenter.sh/v1 or
// v1beta1; without an apiVersion it is taken for v1. The result is always in the
// form of v1: of v1beta1, expireAfter moves from spec.disruption to the template,
// WhenUnderutilized becomes WhenEmptyOrUnderutilized, the group of the node class
// is taken from its apiVersion, and the kubelet's settings move to the annotation
// [KubeletAnnotation], unchecked.
//
// Unknown fields are ignored with a warning that names them; the status is ignored silently, unless
// the NodePool is not ready. An unknown field that resembles a known one in spelling, or has the
// name of a field elsewhere, is an error, because it is probably a typo, unless the NodePool has a
// UID. Values of a wrong type, bad quantities and durations, a duplicate key, and a missing name
// are errors, reported together as [*FieldErrors]. provisioning.Validate checks the meaning of
// values.
func DecodeNodePool(raw []byte) (*NodePool, []Warning, error) {
	m := &manifest{}
	root, err := parseDocument(raw)
	if err != nil {
		m.Add("", err.Error(), "nodepool")
		return nil, nil, m.Err()
	}
	doc := value{manifest: m, v: root}
	name := doc.metadata("name")
	m.stored = doc.metadata("uid") != ""
	m.Object = func() string { return "nodepools[" + name + "]" }

	p := &NodePool{TypeMeta: metav1.TypeMeta{APIVersion: karpenterV1, Kind: "NodePool"}}
	beta := doc.version() == karpenterV1beta1
	hasSpec := false
	doc.object(parts{
		"apiVersion": func(v value) {
			if s := v.text(); s != karpenterV1 && s != karpenterV1beta1 {
				v.fault("is not known: want karpenter.sh/v1 or karpenter.sh/v1beta1")
			}
		},
		"kind": func(v value) {
			if v.text() != p.Kind {
				v.fault("is not NodePool")
			}
		},
		"metadata": func(v value) { v.objectMeta(&p.ObjectMeta) },
		"spec": func(v value) {
			hasSpec = true
			v.poolSpec(&p.Spec, beta)
		},
		"status": value.readiness,
	})
	if _, ok := root.(map[string]any); ok {
		if name == "" {
			m.Add("", "is missing", "metadata.name")
		}
		if !hasSpec {
			m.Add("", "is missing", "spec")
		}
	}
	if err := m.Err(); err != nil {
		return nil, nil, err
	}
	if m.kubeletSettings != "" {
		metav1.SetMetaDataAnnotation(&p.ObjectMeta, KubeletAnnotation, m.kubeletSettings)
	}
	var warnings []Warning
	for _, message := range m.warnings {
		warnings = append(warnings, Warning{Object: "NodePool/" + name, Message: message})
	}
	return p, warnings, nil
}

// parseDocument turns YAML or JSON into a tree. A second document is a fault, because YAML parsers
// stop silently at the end of the first.
func parseDocument(raw []byte) (any, error) {
	documents, content := 0, false
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimRight(line, " \t\r\n")
		if rest, ok := strings.CutPrefix(line, "---"); ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t') {
			content = false
			line = strings.TrimSpace(rest)
		}
		if trimmed := strings.TrimSpace(line); trimmed != "" && trimmed[0] != '#' && trimmed[0] != '%' && !content {
			documents, content = documents+1, true
		}
	}
	switch {
	case documents == 0:
		return nil, errors.New("the document is empty")
	case documents > 1:
		return nil, fmt.Errorf("there are %d YAML documents, not one", documents)
	}
	asJSON, err := yaml.YAMLToJSONStrict(raw)
	if err != nil {
		return nil, errors.New(strings.Join(strings.Fields(err.Error()), " "))
	}
	return Tree(asJSON)
}

// metadata returns a text field of the metadata, "" where it is missing.
func (v value) metadata(field string) string {
	fields, _ := v.v.(map[string]any)
	metadata, _ := fields["metadata"].(map[string]any)
	text, _ := metadata[field].(string)
	return text
}

func (v value) version() string {
	fields, _ := v.v.(map[string]any)
	version, _ := fields["apiVersion"].(string)
	return version
}

// objectMeta reads the metadata. Fields that plans use are read one by one, so that faults are
// named; the rest belongs to the API server.
func (v value) objectMeta(meta *metav1.ObjectMeta) {
	faults := len(v.Faults.List)
	checkText, checkTexts := func(v value) { v.text() }, func(v value) { v.textMap() }
	checkTime, unchecked := func(v value) { v.time() }, func(value) {}
	v.object(parts{
		"name":                       checkText,
		"namespace":                  checkText,
		"labels":                     checkTexts,
		"annotations":                checkTexts,
		"creationTimestamp":          checkTime,
		"deletionTimestamp":          checkTime,
		"finalizers":                 func(v value) { v.texts() },
		"deletionGracePeriodSeconds": unchecked,
		"generateName":               unchecked,
		"generation":                 unchecked,
		"managedFields":              unchecked,
		"ownerReferences":            unchecked,
		"resourceVersion":            unchecked,
		"selfLink":                   unchecked,
		"uid":                        unchecked,
	})
	if len(v.Faults.List) > faults {
		return
	}
	raw, err := json.Marshal(v.v)
	if err == nil {
		err = json.Unmarshal(raw, meta)
	}
	if err != nil {
		v.Add("", strings.TrimPrefix(err.Error(), "json: "), v.path)
	}
}

// readiness warns of a pool that Karpenter would not use at present.
func (v value) readiness() {
	fields, _ := v.v.(map[string]any)
	conditions, _ := fields["conditions"].([]any)
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		if condition["type"] == "Ready" && condition["status"] == "False" {
			v.warn("status.conditions: the NodePool is not ready (%v), but is planned with", condition["reason"])
		}
	}
}

func (v value) poolSpec(spec *NodePoolSpec, beta bool) {
	disruption := func(v value) { v.object(spec.Disruption.readers()) }
	var expireAfter *NillableDuration
	if beta {
		disruption = func(v value) { expireAfter = v.betaDisruption(&spec.Disruption) }
	}
	v.object(parts{
		"template": func(v value) {
			v.object(parts{
				"metadata": func(v value) {
					v.object(parts{
						"labels":      func(v value) { spec.Template.Metadata.Labels = v.textMap() },
						"annotations": func(v value) { spec.Template.Metadata.Annotations = v.textMap() },
					})
				},
				"spec": func(v value) { v.templateSpec(&spec.Template.Spec, beta) },
			})
		},
		"disruption": disruption,
		"limits":     func(v value) { spec.Limits = v.quantities() },
		"weight": func(v value) {
			weight := int32(v.whole(32))
			spec.Weight = &weight
		},
		"replicas": func(v value) {
			replicas := v.whole(64)
			spec.Replicas = &replicas
		},
	})
	if expireAfter != nil {
		spec.Template.Spec.ExpireAfter = expireAfter
	}
}

func (v value) templateSpec(spec *NodeTemplateSpec, beta bool) {
	read := parts{
		"requirements": func(v value) {
			v.list(func(v value) { spec.Requirements = append(spec.Requirements, v.requirement()) })
		},
		"taints":                 func(v value) { spec.Taints = v.taints() },
		"startupTaints":          func(v value) { spec.StartupTaints = v.taints() },
		"nodeClassRef":           func(v value) { spec.NodeClassRef = v.nodeClassRef() },
		"expireAfter":            func(v value) { spec.ExpireAfter = v.nillable() },
		"terminationGracePeriod": func(v value) { spec.TerminationGracePeriod = v.duration() },
	}
	if beta {
		read["kubelet"] = value.kubelet
	}
	v.object(read)
}

func (v value) requirement() (s requirements.Selector) {
	v.object(parts{
		"key":      func(v value) { s.Key = v.text() },
		"operator": func(v value) { s.Operator = requirements.Operator(v.text()) },
		"values":   func(v value) { s.Values = v.texts() },
		"minValues": func(v value) {
			floor := int(v.whole(32))
			s.MinValues = &floor
		},
	})
	return s
}

func (v value) taints() []corev1.Taint {
	out := []corev1.Taint{}
	v.list(func(v value) {
		var t corev1.Taint
		v.object(parts{
			"key":       func(v value) { t.Key = v.text() },
			"value":     func(v value) { t.Value = v.text() },
			"effect":    func(v value) { t.Effect = corev1.TaintEffect(v.text()) },
			"timeAdded": func(v value) { t.TimeAdded = v.time() },
		})
		out = append(out, t)
	})
	return out
}

// nodeClassRef reads a reference of either version: v1beta1 has an apiVersion where
// v1 has the group alone.
func (v value) nodeClassRef() *NodeClassRef {
	ref := &NodeClassRef{}
	v.object(parts{
		"group":      func(v value) { ref.Group = v.text() },
		"kind":       func(v value) { ref.Kind = v.text() },
		"name":       func(v value) { ref.Name = v.text() },
		"apiVersion": func(v value) { ref.Group = groupOf(v.text()) }, // read first, so that group wins
	})
	return ref
}

// readers says how the fields of karpenter.sh/v1 are read.
func (d *Disruption) readers() parts {
	return parts{
		"consolidationPolicy": func(v value) { d.ConsolidationPolicy = ConsolidationPolicy(v.text()) },
		"consolidateAfter":    func(v value) { d.ConsolidateAfter = v.nillable() },
		"budgets": func(v value) {
			d.Budgets = []Budget{}
			v.list(func(v value) {
				var b Budget
				v.object(parts{
					"nodes": func(v value) { b.Nodes = v.text() },
					"schedule": func(v value) {
						schedule := v.text()
						b.Schedule = &schedule
					},
					"duration": func(v value) { b.Duration = v.duration() },
					"reasons":  func(v value) { b.Reasons = v.texts() },
				})
				d.Budgets = append(d.Budgets, b)
			})
		},
	}
}
