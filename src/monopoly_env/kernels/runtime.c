/* The functions of Numba's runtime that compiled code calls: memory of arrays and lists that are
   made in kernels, and the strides of an array that takes another shape. */
#include <stdint.h>
#include <stdlib.h>

typedef int64_t Word; /* Numba's sizes are 64 bits wide on every machine */
typedef void (*Destroy)(void *data, Word size, void *info);

typedef struct {
    Word references;
    Destroy destroy;
    void *destroy_info;
    void *data;
    Word size;
    void *allocator;
} MemInfo;

void *NRT_Allocate(Word size) { return malloc(size); }

void NRT_Free(void *data) { free(data); }

/* The data stands after the head of its block, aligned. */
MemInfo *NRT_MemInfo_alloc_aligned(Word size, uint32_t align) {
    MemInfo *info = malloc(sizeof(MemInfo) + size + align);
    if (!info)
        return NULL;
    uintptr_t data = ((uintptr_t)(info + 1) + align - 1) / align * align;
    *info = (MemInfo){1, NULL, NULL, (void *)data, size, NULL};
    return info;
}

MemInfo *NRT_MemInfo_alloc(Word size) { return NRT_MemInfo_alloc_aligned(size, 16); }

void NRT_MemInfo_call_dtor(MemInfo *info) {
    if (info->destroy)
        info->destroy(info->data, info->size, info->destroy_info);
    free(info);
}

/* Lists have a block of their own, since it grows; its `destroy_info` destroys the items. */
static void destroy_list(void *data, Word size, void *items) {
    if (items)
        ((Destroy)items)(data, size, NULL);
    free(data);
}

MemInfo *NRT_MemInfo_new_varsize_dtor(Word size, Destroy items) {
    MemInfo *info = malloc(sizeof(MemInfo));
    void *data = malloc(size);
    if (!info || !data) {
        free(info);
        free(data);
        return NULL;
    }
    *info = (MemInfo){1, destroy_list, (void *)items, data, size, NULL};
    return info;
}

void *NRT_MemInfo_varsize_alloc(MemInfo *info, Word size) {
    info->data = malloc(size);
    info->size = size;
    return info->data;
}

void NRT_MemInfo_varsize_free(MemInfo *info, void *data) {
    free(data);
    if (info->data == data)
        info->data = NULL;
}

/* Strides of an array of another shape over the same items; 0: it cannot be done without a copy.
   Only contiguous arrays are asked for here. */
int numba_attempt_nocopy_reshape(Word ndim, const Word *shape, const Word *strides,
                                 Word new_ndim, const Word *new_shape,
                                 Word *new_strides, Word itemsize, int fortran) {
    Word items = 1, wanted = 1;
    for (Word i = ndim - 1; i >= 0; i--) {
        if (shape[i] != 1 && strides[i] != items * itemsize)
            return 0;
        items *= shape[i];
    }
    for (Word i = new_ndim - 1; i >= 0; i--) {
        new_strides[i] = wanted * itemsize;
        wanted *= new_shape[i];
    }
    return !fortran && items == wanted;
}

#ifdef __wasm__ /* there is no Python: what would raise an error of its own stops the program */
void *PyExc_RuntimeError;
void PyErr_SetString(void *kind, const char *text) {
    (void)kind, (void)text;
    __builtin_trap();
}
#endif
