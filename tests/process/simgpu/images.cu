// Has kernels and variables of each kind that an image names. The tests of images compile it, and no GPU runs
// it.
struct Large {
  char bytes[20000];
};
struct Triple {
  int values[3];
};

__device__ int counter = 7;
__device__ float table[100];
__constant__ int limits[4];

extern "C" __global__ void plain(float* out, int n, Triple triple, double d) {
  out[n] = static_cast<float>(d) + triple.values[1] + table[n] + limits[n & 3];
  atomicAdd(&counter, n);
}

template <typename T>
__global__ void typed(T* out, T value) {
  extern __shared__ char raw[];
  reinterpret_cast<T*>(raw)[threadIdx.x] = value;
  __syncthreads();
  out[threadIdx.x] = reinterpret_cast<T*>(raw)[threadIdx.x ^ 1];
}
template __global__ void typed<float>(float*, float);
template __global__ void typed<char>(char*, char);

extern "C" __global__ void __launch_bounds__(96) large(Large large, int* out, short at) {
  *out = large.bytes[at];
}

__global__ void none() {
  __shared__ int shared[64];
  shared[threadIdx.x] = 1;
  __syncthreads();
  counter = shared[3];
}
