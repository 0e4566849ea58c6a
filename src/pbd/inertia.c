// The mobility of a block's nodes: inverse masses and the matrix A of tet.h.
#include "pbd/project.h"

void sn_pbd_compute_inertia(sn_pbd_inertia *inertia, const sn_pbd_block *block,
                            double w[4][SN_BLOCK]) {
    for (int l = 0; l < SN_BLOCK; l++) {
        // The four rows of B; the first is minus the sum of the others.
        double B[4][3];
        for (int i = 0; i < 3; i++) {
            for (int k = 1; k < 4; k++) {
                B[k][i] = (double)block->B[3 * (k - 1) + i][l];
            }
            B[0][i] = -(B[1][i] + B[2][i] + B[3][i]);
        }

        for (int k = 0; k < 4; k++) {
            inertia->w[k][l] = (float)w[k][l];
        }

        // A_ij = sum_k w_k B_ki B_kj
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3;
            int m = (i + 2) % 3;
            double diagonal = 0, off_diagonal = 0;

            for (int k = 0; k < 4; k++) {
                diagonal += w[k][l] * B[k][i] * B[k][i];
                off_diagonal += w[k][l] * B[k][j] * B[k][m];
            }

            inertia->A[i][l] = (float)diagonal;
            inertia->A[3 + i][l] = (float)off_diagonal;
        }
    }
}
