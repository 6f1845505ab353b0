package spelling_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
)

func TestField(t *testing.T) {
	for _, tc := range []struct {
		object any
		at     string
		want   string
	}{
		{appsv1.Deployment{}, "spec.replics", "replicas"},
		{appsv1.Deployment{}, "replicas", "spec.replicas"},
		{appsv1.Deployment{}, "spec.template.spec.replicas", "spec.replicas"},
		{appsv1.Deployment{}, "spec.containers", "spec.template.spec.containers"},
		{appsv1.Deployment{}, "spec.template.nodeSelector", "spec.template.spec.nodeSelector"},
		{appsv1.Deployment{}, "spec.labels", "spec.template.metadata.labels"},
		{appsv1.Deployment{}, "spec.template.spec.containers[3].requests", "spec.template.spec.containers[3].resources.requests"},
		{appsv1.Deployment{}, "spec.template.spec.containers[3].tolerations", "spec.template.spec.tolerations"},
		{batchv1.CronJob{}, "spec.containers", "spec.jobTemplate.spec.template.spec.containers"},
		{corev1.Pod{}, "spec.labels", "metadata.labels"},
		{corev1.Pod{}, "spec.image", ""}, // containers have one, and volumes
		{corev1.Pod{}, "spec.novelty", ""},
	} {
		assert.Equal(t, tc.want, spelling.Field(reflect.TypeOf(tc.object), tc.at), tc.at)
	}
}
