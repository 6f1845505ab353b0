package validate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// Validate reports what is wrong with the solver's own settings, as [*FieldErrors].
func Validate(s *scheduling.Policy) error {
	f := scheduling.Faults{List: Faults(s)}
	return f.Err()
}

// Faults are what is wrong with the solver's own settings.
func Faults(s *scheduling.Policy) []*scheduling.FieldError {
	f := &scheduling.Faults{}
	negative := func(is bool, value any, path string) {
		if is {
			f.Add(fmt.Sprint(value), "is negative", "solver."+path)
		}
	}
	policy := func(value, path string, of ...string) {
		if value != "" && !slices.Contains(of, value) {
			f.Add(value, "is none of "+strings.Join(of, ", "), "solver."+path)
		}
	}
	negative(s.Effort < 0, s.Effort, "effort")
	negative(s.MaxOptions < 0, s.MaxOptions, "maxOptions")
	negative(s.PreferencePrice < 0, s.PreferencePrice, "preferencePrice")
	negative(s.NodeOverhead < 0, s.NodeOverhead, "nodeOverhead")
	policy(string(s.MinValues), "minValues", string(scheduling.MinValuesStrict), string(scheduling.MinValuesBestEffort))
	policy(string(s.Weights), "weights", string(scheduling.WeightStrict), string(scheduling.WeightIgnore))
	policy(string(s.Preferences), "preferences", string(scheduling.PreferencesRespect), string(scheduling.PreferencesIgnore), string(scheduling.PreferencesPrice))
	if s.WorkloadShare < 0 || s.WorkloadShare > 100 {
		f.Add(strconv.Itoa(s.WorkloadShare), "must be a percentage from 1 to 100, or 0 for no bound", "solver.workloadShare")
	}
	for _, k := range offers.All(s.Flexibility) {
		negative(k.Least < 0, k.Least, "flexibility."+k.Name)
	}
	offers.CheckNodeSize(s.Size, f)
	offers.Check(s.Interruption, f)
	for _, err := range scheduling.Unjoin(s.Ranking.Validate()) {
		field, message, _ := strings.Cut(err.Error(), ": ")
		f.Add("", message, "solver.ranking."+field)
	}
	return f.List
}
