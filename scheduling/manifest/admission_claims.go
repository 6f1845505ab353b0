package manifest

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// The annotations of the class that claims without a class get, and the one by which
// claims named their class before there was a field for it.
const (
	defaultClassKey = "storageclass.kubernetes.io/is-default-class"
	betaClassKey    = "volume.beta.kubernetes.io/storage-class"
)

// admitClaims gives claims that have not been through admission the class that they
// would get there if they name none: the newest default class. A claim that names the
// class "" wants none.
func admitClaims(claims []*corev1.PersistentVolumeClaim, classes []*storagev1.StorageClass) {
	class := newestDefault(classes)
	if class == nil {
		return
	}
	for _, c := range claims {
		_, named := c.Annotations[betaClassKey]
		if c.UID == "" && c.Spec.StorageClassName == nil && !named && c.Spec.VolumeName == "" {
			name := class.Name
			c.Spec.StorageClassName = &name
		}
	}
}

// newestDefault is the default class that counts: the newest and, of several of one
// age, the first by name.
func newestDefault(classes []*storagev1.StorageClass) *storagev1.StorageClass {
	var newest *storagev1.StorageClass
	for _, c := range classes {
		if c.Annotations[defaultClassKey] != "true" && c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] != "true" {
			continue
		}
		if newest == nil || newest.CreationTimestamp.Before(&c.CreationTimestamp) ||
			newest.CreationTimestamp.Equal(&c.CreationTimestamp) && c.Name < newest.Name {
			newest = c
		}
	}
	return newest
}
