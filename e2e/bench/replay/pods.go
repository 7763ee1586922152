package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func requests(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory)}
}

func (c cluster) container(i int, name, cpu, memory string) corev1.Container {
	container := corev1.Container{Name: name, Image: "registry.example.com/training/" + name + ":v2.41.0", ImagePullPolicy: "IfNotPresent",
		Args:                     []string{"--config=/etc/" + name + "/config.yaml", "--log-level=info"},
		Resources:                corev1.ResourceRequirements{Requests: requests(cpu, memory), Limits: requests(cpu, memory)},
		TerminationMessagePath:   "/dev/termination-log",
		TerminationMessagePolicy: "File",
		VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/" + name},
			{Name: "kube-api-access-x7k2p", ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}},
		Ports: []corev1.ContainerPort{{Name: "metrics", ContainerPort: 9090, Protocol: "TCP"}}}
	for _, variable := range []string{"JOB_NAME", "RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "TRACE_ENDPOINT"} {
		container.Env = append(container.Env, corev1.EnvVar{Name: variable, Value: fmt.Sprintf("%s-%d", name, i%64)})
	}
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/bin/ready"}}}, TimeoutSeconds: 1, PeriodSeconds: 10,
		SuccessThreshold: 1, FailureThreshold: 3}
	container.ReadinessProbe = probe
	return container
}

func (c cluster) spec(i int, hasClaim bool) corev1.PodSpec {
	grace, seconds, mode, yes := int64(30), int64(300), int32(420), true
	spec := corev1.PodSpec{Containers: []corev1.Container{c.container(i, "trainer", "4", "16Gi"), c.container(i, "exporter", "100m", "128Mi")},
		RestartPolicy: "OnFailure", TerminationGracePeriodSeconds: &grace, DNSPolicy: "ClusterFirst", ServiceAccountName: "default",
		DeprecatedServiceAccount: "default", SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: &yes}, SchedulerName: "default-scheduler",
		EnableServiceLinks: &yes, NodeSelector: map[string]string{"example.com/pool": "gpu"}}
	for _, key := range []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"} {
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{Key: key, Operator: "Exists", Effect: "NoExecute", TolerationSeconds: &seconds})
	}
	expiration := int64(3607)
	spec.Volumes = []corev1.Volume{
		{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "trainer"}, DefaultMode: &mode}}},
		{Name: "kube-api-access-x7k2p", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{DefaultMode: &mode, Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: &expiration, Path: "token"}},
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}, Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"}}}}}}}}}}
	if hasClaim {
		template := "gpu"
		spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: &template}}
		spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}}
	}
	return spec
}

// pod gives a Pod; the first ones have the claims of the same number. Those whose claim is not settled wait for a node.
func (c cluster) pod(i int) *corev1.Pod {
	controller := true
	hasClaim := i < c.claims
	pod := &corev1.Pod{ObjectMeta: meta(uidPod, i, c.podName(i))}
	pod.Namespace = c.namespaceOf(i)
	pod.GenerateName = fmt.Sprintf("trainer-%d-", i/8)
	pod.Labels = map[string]string{"app": "trainer", "batch.kubernetes.io/job-name": fmt.Sprintf("trainer-%d", i/8), "batch.kubernetes.io/controller-uid": string(uid(uidOther, i/8)),
		"team": pod.Namespace}
	pod.Annotations = map[string]string{"batch.kubernetes.io/job-completion-index": fmt.Sprint(i % 8), "prometheus.io/scrape": "true"}
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: fmt.Sprintf("trainer-%d", i/8), UID: uid(uidOther, i/8), Controller: &controller, BlockOwnerDeletion: &controller}}
	pod.Spec = c.spec(i, hasClaim)
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: corev1.PodQOSGuaranteed}
	if hasClaim {
		name := c.claimName(i)
		pod.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "gpu", ResourceClaimName: &name}}
		if c.stateOf(i) != settled {
			pod.Status.Conditions = []corev1.PodCondition{{Type: "PodScheduled", Status: "False", LastTransitionTime: made, Reason: "SchedulerError", Message: "waits for its claim"}}
			return pod
		}
		cpu, memory := resource.MustParse("2"), resource.MustParse("4Gi")
		pod.Status.NodeAllocatableResourceClaimStatuses = []corev1.NodeAllocatableResourceClaimStatus{{ResourceClaimName: name, Containers: []string{"trainer"},
			Mapping: []corev1.NodeAllocatableMappedResources{{Name: "cpu", Quantity: &cpu}, {Name: "memory", Quantity: &memory}}}}
	}
	c.run(i, pod)
	return pod
}

func (c cluster) run(i int, pod *corev1.Pod) {
	pod.Spec.NodeName = c.nodeName(c.nodeOf(i))
	pod.Status.Phase = corev1.PodRunning
	pod.Status.StartTime = &made
	pod.Status.HostIP = fmt.Sprintf("172.16.%d.%d", c.nodeOf(i)/250, c.nodeOf(i)%250)
	pod.Status.HostIPs = []corev1.HostIP{{IP: pod.Status.HostIP}}
	pod.Status.PodIP = fmt.Sprintf("10.%d.%d.%d", i/65536, i/256%256, i%256)
	pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}}
	for _, kind := range []string{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodConditionType(kind), Status: "True", LastTransitionTime: made})
	}
	started := true
	for k, container := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: container.Name, Ready: true, Started: &started,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: made}}, Image: container.Image,
			ImageID:     fmt.Sprintf("%s@sha256:%064x", container.Image, k),
			ContainerID: fmt.Sprintf("containerd://%064x", i*2+k), AllocatedResources: container.Resources.Requests,
			Resources: &corev1.ResourceRequirements{Requests: container.Resources.Requests, Limits: container.Resources.Limits}})
	}
}
