package schedulingtest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/samber/lo"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/dice"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Shuffle returns the problem or the cluster with all of its lists in another order, which must not change the plan.
// The objects are shared with p; the order inside an object, e.g. of containers, has a meaning and does not change.
func Shuffle[P scheduling.Problem | disruption.Cluster](p P, seed uint64) P {
	shuffleLists(dice.New(seed), reflect.ValueOf(&p).Elem())
	return p
}

// shuffleLists replaces the lists of a struct, and of structs inside it, by shuffled ones.
func shuffleLists(d dice.Dice, v reflect.Value) {
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case !f.CanSet():
		case f.Kind() == reflect.Struct:
			shuffleLists(d, f)
		case f.Kind() == reflect.Slice:
			list := reflect.MakeSlice(f.Type(), f.Len(), f.Len())
			reflect.Copy(list, f)
			d.Shuffle(f.Len(), reflect.Swapper(list.Interface()))
			f.Set(list)
		}
	}
}

// YAML is the problem with all of its objects and instance types as a text for people, e.g. the
// result of [Minimise].
func YAML(p scheduling.Problem) string {
	text, err := yaml.Marshal(contents(p))
	if err != nil {
		return fmt.Sprintf("no YAML form: %v", err)
	}
	return string(text)
}

// inJSON is equal for problems that are equal in all fields that a planner could change.
func inJSON(p scheduling.Problem) []byte {
	text, err := json.Marshal(contents(p))
	if err != nil {
		return []byte(err.Error())
	}
	return text
}

// contents are the fields of the problem that say something, by name.
func contents(p scheduling.Problem) map[string]any {
	all := make(map[string]any)
	v := reflect.ValueOf(p)
	for i := range v.NumField() {
		if f := v.Field(i); !f.IsZero() {
			all[v.Type().Field(i).Name] = f.Interface()
		}
	}
	if p.Catalog != nil {
		all["Catalog"] = slices.Collect(p.Catalog.All())
	}
	if len(p.PoolCatalogs) > 0 {
		own := make(map[string][]*instancetypes.InstanceType)
		for pool, catalog := range p.PoolCatalogs {
			own[pool] = slices.Collect(catalog.All())
		}
		all["PoolCatalogs"] = own
	}
	if p.Nominated != nil {
		all["Nominated"] = lo.MapKeys(p.Nominated, func(_ string, pod types.NamespacedName) string { return pod.String() })
	}
	if p.Unavailable != nil {
		all["Unavailable"] = p.Unavailable.Keys()
	}
	return all
}
