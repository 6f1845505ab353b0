package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// ReadPlan reads a plan in JSON or YAML, as the command prints it. Fields that a plan does not
// have, and input behind the plan, are errors, because a check of another document would prove
// nothing.
func ReadPlan(r io.Reader) (*scheduling.Plan, error) {
	raw, err := planText(r)
	if err != nil {
		return nil, err
	}
	return strictly[scheduling.Plan](raw)
}

// ReadAnyPlan reads a plan of launches or one of disruption, whichever there is; the other
// is nil. A plan of disruption is known by its steps. It is as strict as [ReadPlan].
func ReadAnyPlan(r io.Reader) (*scheduling.Plan, *disruption.ConsolidationPlan, error) {
	raw, err := planText(r)
	if err != nil {
		return nil, nil, err
	}
	var top struct {
		Steps json.RawMessage `json:"steps"`
	}
	if err := json.Unmarshal(raw, &top); err == nil && top.Steps != nil {
		plan, err := strictly[disruption.ConsolidationPlan](raw)
		return nil, plan, err
	}
	plan, err := strictly[scheduling.Plan](raw)
	return plan, nil, err
}

// planText reads a plan and returns it as JSON.
func planText(r io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || trimmed[0] != '{' {
		if raw, err = yaml.YAMLToJSONStrict(raw); err != nil {
			return nil, fmt.Errorf("is neither JSON nor YAML: %w", err)
		}
	}
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || string(trimmed) == "null" {
		return nil, errors.New("is no plan: there is nothing in it")
	}
	var object struct{ APIVersion, Kind string }
	if json.Unmarshal(raw, &object) == nil && object.APIVersion != "" && object.Kind != "" {
		return nil, fmt.Errorf("is no plan, but a Kubernetes object of kind %s", object.Kind)
	}
	return raw, nil
}

// strictly decodes a plan that has no fields but its own. The error holds [Faults].
func strictly[T any](raw []byte) (*T, error) {
	plan := new(T)
	faults, unknown, _ := decode(raw, plan, "", strict.Rules{NullEntries: true})
	for _, field := range unknown {
		faults = append(faults, unknownFault(plan, "", field))
	}
	if len(faults) == 0 {
		return plan, nil
	}
	var out Faults
	for _, f := range faults {
		out = append(out, &Fault{Field: f.field, Value: f.value, Message: f.msg})
	}
	return nil, fmt.Errorf("is no plan: %w", out)
}
