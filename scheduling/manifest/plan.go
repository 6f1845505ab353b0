package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/plimsoll-go/plimsoll/internal/untrusted"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// ReadPlan reads a plan in JSON or YAML, as the command prints it. Fields that a plan
// does not have, and anything behind the plan, are errors: a check of something else
// would say nothing.
func ReadPlan(r io.Reader) (*scheduling.Plan, error) {
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
	if field, value, found := untrusted.Quantity(raw); found {
		return nil, fmt.Errorf("%s: %q is no quantity: its exponent is out of all proportion", field, value)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	plan := &scheduling.Plan{}
	if err := dec.Decode(plan); err != nil {
		return nil, fmt.Errorf("is no plan: %w", err)
	}
	if dec.More() {
		return nil, errors.New("goes on behind the plan")
	}
	return plan, nil
}
