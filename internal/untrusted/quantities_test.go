package untrusted

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"
)

func TestQuantity(t *testing.T) {
	for _, tt := range []struct {
		name, raw, path, value string
	}{
		{name: "usual quantities", raw: `{"requests":{"cpu":"1500m","memory":"1e9"}}`},
		{name: "a commit that looks like a number is no quantity", raw: `{"metadata":{"labels":{"commit":"1e19988888889"}}}`},
		{name: "not JSON", raw: `{"requests":{"cpu":"1e99999"`},
		{"a text", `{"spec":{"containers":[{},{"resources":{"requests":{"cpu":"1e19988888889"}}}]}}`, "spec.containers[1].resources.requests.cpu", "1e19988888889"},
		{"a number", `{"limits":{"cpu":1E+00012345}}`, "limits.cpu", "1E+00012345"},
		{"a small one", `{"capacity":{"memory":"1.e-9999"}}`, "capacity.memory", "1.e-9999"},
		{"a field in another case", `{"rEquests":{"cpu":"1e9999"}}`, "rEquests.cpu", "1e9999"},
		{"the first by name", `{"limits":{"b":"1e9999","a":"2e9999"}}`, "limits.a", "2e9999"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path, value, found := Quantity([]byte(tt.raw))
			assert.Equal(t, tt.value != "", found)
			if found {
				assert.Equal(t, tt.path, path)
				assert.Equal(t, tt.value, value)
			}
		})
	}
}

// Quantities that pass are read in a short time, even if they are not valid.
func FuzzQuantity(f *testing.F) {
	for _, s := range []string{"1", "1e3", "1e999", "-1E-998", "1e1000", "0x1e99999", "1e+0009999", "1.5e12Ki", "e99999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted, err := kjson.Marshal(map[string]any{"requests": map[string]string{"cpu": s}})
		if err != nil {
			t.Skip()
		}
		if _, _, found := Quantity(quoted); found || len(s) > 100 {
			return
		}
		start := time.Now()
		var list struct {
			Requests corev1.ResourceList `json:"requests"`
		}
		_ = kjson.Unmarshal(quoted, &list) // only the time matters
		if took := time.Since(start); took > 2*time.Second {
			t.Fatalf("%q takes %v to read", s, took)
		}
	})
}
