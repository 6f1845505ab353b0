package verify

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A claim is in use until the last of its pods has left.
func TestClaimsHaveSeveralUsers(t *testing.T) {
	user := func(name string) *corev1.Pod {
		source := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop"},
			Spec:       corev1.PodSpec{Volumes: []corev1.Volume{{Name: "one", VolumeSource: source}, {Name: "two", VolumeSource: source}}},
		}
	}
	s := storage{users: map[string]map[string]bool{}}
	occupant := func() string {
		pod, used := s.occupant("shop/data")
		assert.Equal(t, pod != "", used)
		return pod
	}
	assert.Empty(t, occupant())
	s.use(user("b"))
	s.use(user("a"))
	assert.Equal(t, "shop/a", occupant())
	s.release(user("a"))
	assert.Equal(t, "shop/b", occupant())
	s.release(user("b"))
	assert.Empty(t, occupant())
	assert.Empty(t, s.users)
}
