package podspec
