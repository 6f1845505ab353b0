package strict_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/internal/strict"
)

func TestPaths(t *testing.T) {
	assert.Equal(t, "limits.cpu", strict.Member("limits", "cpu"))
	assert.Equal(t, "limits[nvidia.com/gpu]", strict.Member("limits", "nvidia.com/gpu"))
	assert.Equal(t, "labels[]", strict.Member("labels", ""), "an empty key is not the map itself")
	assert.Equal(t, "spec.containers[0].name", strict.Below("spec.containers[0]", "name"))
	assert.Equal(t, "pods[shop/web][0]", strict.Below("pods[shop/web]", "[0]"))
	assert.Equal(t, "pods[shop/web]", strict.Below("pods[shop/web]", ""))
}
