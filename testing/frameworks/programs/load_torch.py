"""Reads a data set with worker processes: load_torch.py fork|spawn|forkserver."""

import gc
import sys

import descriptors
import torch


class Squares(torch.utils.data.Dataset):
    """Holds the numbers from 0 to 199, squared in a worker."""

    def __len__(self):
        return 200

    def __getitem__(self, index):
        return torch.tensor([index * index], dtype=torch.int64)


def main():
    loader = torch.utils.data.DataLoader(Squares(), batch_size=8, num_workers=2, multiprocessing_context=sys.argv[1])
    print(sum(int(batch.sum()) for batch in loader))
    del loader
    gc.collect()  # pipes to workers are closed when their objects go
    descriptors.say()


if __name__ == "__main__":
    main()
